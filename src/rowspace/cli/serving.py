"""``rowspace serve``, ``rowspace tokens`` and ``rowspace studio``: questions over HTTP, who may ask, and planning."""

from __future__ import annotations

import importlib.util
import threading
import webbrowser
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.table import Table
from rich.text import Text

from rowspace.exceptions import InvalidInput
from rowspace.study import Study

from .screen import Screen, remark_on_facts

if TYPE_CHECKING:
    from rowspace.serve import Role

_NEEDED = ("fastapi", "uvicorn", "prometheus_client", "python_multipart")


def serve_study(
    study_file: Path,
    data: str,
    tokens: Path | None,
    host: str,
    workers: int,
    rate: float,
    quiet: bool,
    **settings: Any,
) -> None:
    """Serve until told to stop."""
    _require_packages("rowspace serve")
    if not 1 <= workers <= 64 or not rate > 0:
        raise typer.BadParameter("expected --workers from 1 to 64 and --rate above 0")
    from rowspace.serve import Settings, serve

    screen = Screen(quiet)
    remark_on_facts(Study.load(study_file), screen)
    made = Settings(
        str(study_file),
        data,
        tokens=None if tokens is None else str(tokens),
        workers=workers,
        rate=rate,
        **settings,
    )
    serve(made, host, say=lambda link: screen.out.print(Text(f"serving {link}"), soft_wrap=True))


def studio_of(study_file: Path, no_browser: bool, quiet: bool, **settings: Any) -> None:
    """Serve a studio until told to stop."""
    _require_packages("rowspace studio")
    from rowspace.studio import Settings, studio

    screen = Screen(quiet)

    def say(link: str) -> None:
        screen.out.print(Text(f"studio {link}"), soft_wrap=True)
        if not no_browser:
            # When the server answers: it is bound already, so that a browser waits.
            threading.Timer(0.5, webbrowser.open, (link,)).start()

    if settings["ledger"] is not None and settings["data"] is None:
        raise typer.BadParameter("--ledger pays for a release of DATA: give both, or neither")
    studio(Settings(study_file, **settings), say=say)


def _require_packages(command: str) -> None:
    if not all(importlib.util.find_spec(name) for name in _NEEDED):
        raise InvalidInput(f"{command} needs more packages: pip install 'rowspace[serve]'")


def add_token(
    file: Path, name: str, role: Role, cap: float | None, expires: datetime | None, as_json: bool
) -> None:
    """Print a new token."""
    from rowspace.serve import add

    end = expires and (expires if expires.tzinfo else expires.replace(tzinfo=UTC))
    secret = add(file, name, str(role), cap, end)  # type: ignore[arg-type]
    screen = Screen(as_json=as_json)
    screen.result(Text(secret))
    screen.remark(f"shown once; only its digest is in {file.name}")
    screen.document({"name": name, "token": secret})


def list_tokens(file: Path, as_json: bool) -> None:
    """Print who has a token."""
    from rowspace.serve import listed

    screen, view = Screen(as_json=as_json), Table(box=None, padding=(0, 2))
    for heading in ("name", "role", "cap", "expires"):
        view.add_column(heading)
    found = listed(file)
    for one in found:
        end = "" if one.expires is None else f"{one.expires:%Y-%m-%d %H:%M} UTC"
        view.add_row(
            one.name, one.role, "" if one.cap is None else f"{one.cap:g}", end + " (ended)" * one.is_expired
        )
    screen.result(view)
    screen.document({"tokens": [one.model_dump(mode="json", exclude={"sha256"}) for one in found]})


def revoke_token(file: Path, name: str) -> None:
    """Take a token back."""
    from rowspace.serve import revoke

    revoke(file, name)
