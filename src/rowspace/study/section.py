"""One table of a study: typed access to its keys, and the place in the file that every error names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from rowspace.domain import did_you_mean
from rowspace.exceptions import InvalidStudy, RowspaceError


@contextmanager
def located(place: str) -> Iterator[None]:
    """Put a place in the file before the message of any error of ours raised inside; its type stays."""
    try:
        yield
    except RowspaceError as error:
        error.args = (f"{place}: {error}", *error.args[1:])
        raise


@dataclass(frozen=True)
class Section:
    """A TOML table. Its messages do not say where it stands: whoever reads it does, with `located`."""

    values: Mapping[str, Any]

    @classmethod
    def of(cls, value: object) -> Section:
        """The section that a value of the tree must be."""
        if not isinstance(value, dict):
            raise InvalidStudy(f"expected a table of settings, got {kind_of(value)}")
        return cls(value)

    def only(self, *known: str) -> None:
        """Refuse a key that is not one of these: a misspelt setting must not be ignored."""
        for key in self.values:
            if key not in known:
                # All of them: there are few, and the one that is meant may be called otherwise.
                raise InvalidStudy(f"unknown key {key[:200]!r}; {did_you_mean(key, known, len(known))}")

    def text(self, key: str) -> str:
        """A text that must be there, not empty."""
        if key not in self.values:
            raise InvalidStudy(f'{key} is missing; write for example {key} = "…"')
        value = self.values[key]
        if not isinstance(value, str) or not value.strip():
            raise InvalidStudy(f'expected {key} = "some text", got {kind_of(value)}')
        return value

    def optional_text(self, key: str) -> str | None:
        """A text, or None when the key is not there."""
        return self.text(key) if key in self.values else None

    def boolean(self, key: str) -> bool:
        """True or false, and false when the key is not there."""
        value = self.values.get(key, False)
        if not isinstance(value, bool):
            raise InvalidStudy(f"expected {key} = true or {key} = false, got {kind_of(value)}")
        return value

    def texts(self, key: str) -> list[str]:
        """A list of texts."""
        value = self.values[key]
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise InvalidStudy(f'expected {key} = ["text", …], got {kind_of(value)}')
        return value


def kind_of(value: object) -> str:
    """What a value of the tree is called."""
    match value:
        case bool():
            return "a boolean"
        case str():
            return "text" if value.strip() else "empty text"
        case int() | float():
            return "a number"
        case list():
            return "a list of other things" if value else "an empty list"
        case dict():
            return "a table"
    return "a date or time"
