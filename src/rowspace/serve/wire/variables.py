"""What a connection has set: PostgreSQL's names, so that clients find what they expect, and ours, which are checked.

As in PostgreSQL a ROLLBACK takes back what was set since BEGIN: a pool that rolls back hands on no accuracy to pay for.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

from rowspace.exceptions import InvalidInput

VERSION = "15.0"
"""Of PostgreSQL: by which clients choose what they ask of the catalogue."""

DEFAULTS = {
    "application_name": "",
    "bytea_output": "hex",
    "client_encoding": "UTF8",
    "client_min_messages": "notice",
    "DateStyle": "ISO, MDY",
    "default_transaction_isolation": "read committed",
    "default_transaction_read_only": "on",
    "extra_float_digits": "1",
    "integer_datetimes": "on",
    "IntervalStyle": "postgres",
    "is_superuser": "off",
    "max_identifier_length": "63",
    "search_path": "public",
    "server_encoding": "UTF8",
    "server_version": VERSION,
    "server_version_num": "150000",
    "standard_conforming_strings": "on",
    "statement_timeout": "0",
    "TimeZone": "UTC",
    "transaction_isolation": "read committed",
    "transaction_read_only": "on",
    "rowspace.within": "",
    "rowspace.level": "0.95",
    "rowspace.most": "",
    "rowspace.request": "",
    "rowspace.intervals": "off",
}
REPORTED = (
    *(
        "application_name",
        "client_encoding",
        "DateStyle",
        "default_transaction_read_only",
        "integer_datetimes",
    ),
    *("IntervalStyle", "is_superuser", "server_encoding", "server_version", "session_authorization"),
    *("standard_conforming_strings", "TimeZone"),
)
"""Those that clients are told of whenever they change."""

_FIXED = ("server_version", "server_version_num", "server_encoding", "is_superuser", "session_authorization")
_MOST, _LONGEST = 100, 1000
_KEY = re.compile(r"[\x21-\x7e]{1,100}")
_TRUE, _FALSE = ("on", "true", "t", "1", "yes"), ("off", "false", "f", "0", "no")
_SPELT = {name.lower(): name for name in (*DEFAULTS, "session_authorization")}


@dataclass
class Variables:
    """The settings of one connection. start: as they were when it began; before: as they were at BEGIN."""

    now: dict[str, str] = field(default_factory=lambda: dict(DEFAULTS))
    start: dict[str, str] = field(default_factory=dict)
    before: dict[str, str] | None = None
    local: set[str] = field(default_factory=set)

    def get(self, name: str) -> str | None:
        """A value, by its name in any case."""
        return self.now.get(_SPELT.get(name.lower(), name.lower()))

    def set(self, name: str, value: str, *, local: bool = False) -> str:
        """Set a value, and return the name as it is spelt."""
        own = _SPELT.get(name.lower(), name.lower())
        if own in _FIXED and value != self.now.get(own):
            raise InvalidInput(f"{own} cannot be set")
        if len(value) > _LONGEST or len(own) > 100 or (own not in self.now and len(self.now) >= _MOST):
            raise InvalidInput("too many settings, or one that is too long")
        self.now[own] = checked(own, value)
        if local:
            self.local.add(own)
        return own

    def reset(self, name: str | None = None) -> None:
        """Back to the start: one, or all."""
        if name is None:
            self.now = dict(self.start)
            return
        own = _SPELT.get(name.lower(), name.lower())
        if own in self.start:
            self.now[own] = self.start[own]
        else:
            self.now.pop(own, None)

    def begin(self) -> None:
        """Remember what is set now."""
        self.before, self.local = dict(self.now), set()

    def commit(self) -> None:
        """Keep what was set, but for what was set LOCAL."""
        if self.before is not None:
            kept = {name: value for name, value in self.now.items() if name not in self.local}
            self.now = self.before | kept
        self.before = None

    def rollback(self) -> None:
        """Take back what was set since BEGIN."""
        self.now = self.now if self.before is None else self.before
        self.before = None


def checked(name: str, value: str) -> str:
    """A value that a setting can have; empty where it is not set."""
    match name:
        case "client_encoding" if value.strip("'").replace("-", "").upper() not in ("UTF8", "UNICODE"):
            raise InvalidInput("expected client_encoding to be UTF8")
        case "client_encoding":
            return "UTF8"
        case "rowspace.within" if value and not _number(value) > 0:
            raise InvalidInput("expected rowspace.within to be a number above 0: the half-width of intervals")
        case "rowspace.level" if not 0 < _number(value) < 1:
            raise InvalidInput("expected rowspace.level to be strictly between 0 and 1, such as 0.95")
        case "rowspace.most" if value and not _number(value) >= 0:
            raise InvalidInput(
                "expected rowspace.most to be a number of at least 0: what a question may cost"
            )
        case "rowspace.request" if value and not _KEY.fullmatch(value):
            raise InvalidInput("expected rowspace.request to be 1 to 100 characters without spaces")
        case "rowspace.intervals" if value.lower() not in (*_TRUE, *_FALSE):
            raise InvalidInput("expected rowspace.intervals to be on or off")
        case "rowspace.intervals":
            return "on" if value.lower() in _TRUE else "off"
        case _ if name.startswith("rowspace.") and name not in DEFAULTS:
            known = ", ".join(own for own in DEFAULTS if own.startswith("rowspace."))
            raise InvalidInput(f"{name} is no setting; there are {known}")
    return value


def _number(value: str) -> float:
    try:
        found = float(value)
    except ValueError:
        return math.nan
    return found if math.isfinite(found) else math.nan


_OPTION = re.compile(r"\s*(?:-c\s*|--)([\w.-]+)=((?:\\.|[^\s\\])*)")


def from_options(text: str) -> list[tuple[str, str]]:
    """Settings in the `options` of a connection string: -c rowspace.within=50."""
    return [(name.replace("-", "_"), re.sub(r"\\(.)", r"\1", value)) for name, value in _OPTION.findall(text)]
