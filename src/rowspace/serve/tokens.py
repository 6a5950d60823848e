"""Who may ask: names, roles, caps and ends, in a file that keeps of every token only its digest.

A token is 256 bits of the system's randomness, so that a plain SHA-256 of it cannot be turned back. The file is read
again when it changes: who is revoked there is out, in every process.

Guarantees
- A file that cannot be read lets nobody in (tests/serve/test_tokens.py::test_a_broken_file_lets_nobody_in).
- No token can be read off the file (tests/serve/test_tokens.py::test_only_digests_are_kept).
"""

from __future__ import annotations

import hashlib
import os
import secrets
import tomllib
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Literal

import tomlkit
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from rowspace.exceptions import FileError, InvalidInput
from rowspace.files import write_whole
from rowspace.ledger import Spender, written

Role = Literal["analyst", "steward"]


class Holder(BaseModel):
    """Whoever has a token. cap: in the unit of the budget, over all time; none where only the budget limits."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$")]
    role: Role
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    cap: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    expires: AwareDatetime | None = None

    @property
    def spender(self) -> Spender:
        """In whose name a ledger is charged."""
        return Spender(self.name, None if self.cap is None else Fraction(written(self.cap)))

    @property
    def is_expired(self) -> bool:
        """Whether the token has ended."""
        return self.expires is not None and self.expires <= datetime.now(UTC)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")
    token: list[Holder] = []


def new_secret() -> str:
    """A token that nobody has yet."""
    return secrets.token_urlsafe(32)


def digest_of(secret: str) -> str:
    """What is kept of a token."""
    return hashlib.sha256(secret.encode()).hexdigest()


class Tokens:
    """The holders of tokens, as a file says now, or those given."""

    def __init__(self, path: str | os.PathLike[str] | None, given: tuple[Holder, ...] = ()) -> None:
        self._path = None if path is None else Path(path)
        self._seen: tuple[int, ...] | None = None
        self._holders = {one.sha256: one for one in given}

    def holder(self, secret: str) -> Holder | None:
        """Who has a token; None for one that is unknown. Who calls looks whether it has expired."""
        return self.read().get(digest_of(secret))

    def read(self) -> dict[str, Holder]:
        """All holders by the digest of their token."""
        if self._path is None:
            return self._holders
        try:
            found = self._path.stat()
        except OSError as error:
            raise FileError(f"{self._path.name} cannot be read: {error.strerror}") from None
        seen = (found.st_ino, found.st_size, found.st_mtime_ns)
        if seen != self._seen:
            self._holders = {one.sha256: one for one in listed(self._path)}
            self._seen = seen
        return self._holders


def listed(path: Path) -> list[Holder]:
    """The holders that a file names."""
    try:
        found = _File.model_validate(tomllib.loads(path.read_text(encoding="utf-8"))).token
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{path.name} cannot be read: {getattr(error, 'strerror', 'no UTF-8')}") from None
    except tomllib.TOMLDecodeError as error:
        raise FileError(f"{path.name} is no TOML: {error}") from None
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise FileError(f"{path.name}: {place}: {first['msg']}") from None
    names = [one.name for one in found]
    if len(set(names)) < len(names):
        raise FileError(
            f"{path.name} names somebody twice; what is spent is counted by name, so give each one token"
        )
    return found


def add(path: Path, name: str, role: Role, cap: float | None, expires: datetime | None) -> str:
    """Add a holder to a file, made if it is not there, and return the token: it is kept nowhere."""
    if path.exists() and any(one.name == name for one in listed(path)):
        raise InvalidInput(
            f"{path.name} has a token for {name!r}; revoke it first. What was spent stays with the name"
        )
    if role == "steward" and cap is not None:
        raise InvalidInput("a steward spends nothing, and needs no cap")
    secret = new_secret()
    try:
        made = Holder(name=name, role=role, sha256=digest_of(secret), cap=cap, expires=expires)
    except ValidationError as error:
        wrong = error.errors(include_input=False, include_url=False)[0]
        raise InvalidInput(f"{wrong['loc'][0]}: {wrong['msg']}") from None
    document = tomlkit.parse(path.read_text(encoding="utf-8")) if path.exists() else tomlkit.document()
    row = tomlkit.table()
    row.update(made.model_dump(exclude_none=True))
    document.setdefault("token", tomlkit.aot()).append(row)
    _write(path, document)
    return secret


def revoke(path: Path, name: str) -> None:
    """Take a holder out of a file."""
    at = [number for number, one in enumerate(listed(path)) if one.name == name]
    if not at:
        raise InvalidInput(
            f"{path.name} has no token for {name!r}; `rowspace tokens list` shows those it has"
        )
    document = tomlkit.parse(path.read_text(encoding="utf-8"))
    del document["token"][at[0]]
    _write(path, document)


def _write(path: Path, document: tomlkit.TOMLDocument) -> None:
    content = tomlkit.dumps(document).encode()
    write_whole(path, lambda file: file.write(content))
