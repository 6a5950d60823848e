"""A study file that is being edited: its text, one change after the other, and the file it is saved to.

A change goes from text to text, by tomlkit: comments, order and spelling of all else stay. What is planned is the study
that the text says, and what is saved is the text.

Guarantees
- Nothing is written but the study, and only by `save` (tests/studio/test_api.py::test_only_saving_writes).
- A file that changed since it was read is not overwritten (tests/studio/test_document.py::test_others_changes_stay).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit import TOMLDocument

from rowspace.exceptions import FileError, InvalidInput
from rowspace.files import write_whole
from rowspace.study import Study, entry_block, line, located, read_text
from rowspace.workload import Workload

_GROUPS_NAMED = 3


@dataclass(frozen=True)
class Card:
    """An entry of the workload: what it asks, as it is written, how much it counts, how many queries it has."""

    title: str
    written: str
    weight: float
    queries: int


def with_weight(text: str, at: int, weight: float) -> str:
    """An entry that counts more, or less."""
    document, entries = _read(text, at)
    if weight == 1 and "weight" in entries[at]:
        del entries[at]["weight"]
    elif weight != float(entries[at].get("weight", 1)):
        entries[at]["weight"] = weight
    return document.as_string()


def without_entry(text: str, at: int) -> str:
    """One entry less."""
    document, entries = _read(text, at)
    if len(entries) == 1:
        raise InvalidInput("a study asks at least one question: add another one first")
    del entries[at]
    return document.as_string()


def with_entry(text: str, entry: Mapping[str, Any]) -> str:
    """One entry more, after the others. entry: by its keys."""
    made = entry_block(entry)
    document = tomlkit.parse(text)
    listed: Any = document["workload"]
    if isinstance(listed, tomlkit.items.AoT) and listed.body[-1] is document.last_item():
        return f"{text.rstrip()}\n\n{made}\n"
    if isinstance(listed, tomlkit.items.AoT):
        listed.append(tomlkit.parse(f"{made}\n\n")["workload"][0])
    else:
        inline = tomlkit.inline_table()
        inline.update(entry)
        listed.append(inline)
    return document.as_string()


def with_budget(text: str, value: float) -> str:
    """Another ε, or ρ where the study states that."""
    document = tomlkit.parse(text)
    table = document["privacy"]
    name = "rho" if "rho" in table else "epsilon"
    if float(table[name]) != value:
        table[name] = value
    return document.as_string()


def _read(text: str, at: int) -> tuple[TOMLDocument, Any]:
    document = tomlkit.parse(text)
    entries: Any = document["workload"]
    if not 0 <= at < len(entries):
        raise InvalidInput("this question is not there any more; reload the page")
    return document, entries


def cards(text: str, study: Study, folder: Path) -> list[Card]:
    """The entries of the workload, in the order of the file."""
    from rowspace.study import parse_text
    from rowspace.study.file import read_file

    found = []
    for entry in read_file(parse_text(text)).workload:
        queries = entry.queries(study.domain, folder)
        written = "\n".join(line(name, value) for name, value in _plain(entry.given("weight")).items())
        found.append(Card(_title(queries), written, float(entry.weight or 1), queries.size))
    return found


def _plain(given: dict[str, Any]) -> dict[str, Any]:
    return {name: value.given() if hasattr(value, "given") else value for name, value in given.items()}


def _title(queries: Workload) -> str:
    groups = list(dict.fromkeys(part.group for part in queries.parts))
    more = f" and {len(groups) - _GROUPS_NAMED:,} more" if len(groups) > _GROUPS_NAMED else ""
    return ", ".join(groups[:_GROUPS_NAMED]) + more


class Document:
    """The file of a study, with changes that are not saved yet. Line ends and a mark at the start stay as they were."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.reload()

    def reload(self) -> None:
        """Take the study from the file, without the changes."""
        text = read_text(self.path)
        with located(self.path.name):
            self.study = Study.parse(text, self.folder)
        self._bytes = self.path.read_bytes()
        self._crlf = "\r\n" in text
        self.text = self.saved = text.replace("\r\n", "\n")
        self.before: list[str] = []

    @property
    def folder(self) -> Path:
        """Where it may name files of SQL."""
        return self.path.parent

    @property
    def is_saved(self) -> bool:
        """Whether the file says what the text does."""
        return self.text == self.saved

    def change(self, text: str) -> None:
        """Take another text, if it is a study; else one clear error, and nothing is changed."""
        if text == self.text:
            return
        self.study = Study.parse(text, self.folder)
        self.before.append(self.text)
        self.text = text

    def undo(self) -> None:
        """Take the last change back."""
        if not self.before:
            raise InvalidInput("there is nothing to undo")
        self.text = self.before.pop()
        self.study = Study.parse(self.text, self.folder)

    def save(self) -> None:
        """Write the file, whole or not at all, unless somebody else has changed it."""
        try:
            there = self.path.read_bytes()
        except OSError as error:
            raise FileError(f"{self.path.name} cannot be read any more: {error.strerror}") from None
        if there != self._bytes:
            raise FileError(
                f"{self.path.name} was changed by another program since it was read here; nothing was written. Reload "
                "it from disk, which drops the changes made here, or put it back"
            )
        text = self.text.replace("\n", "\r\n") if self._crlf else self.text
        mark = b"\xef\xbb\xbf" if there.startswith(b"\xef\xbb\xbf") else b""
        content = mark + text.encode()
        write_whole(self.path, lambda file: file.write(content))
        self._bytes, self.saved = content, self.text
