"""The terminal: results on standard output, progress and remarks on standard error."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rich.console import Console, RenderableType
from rich.progress import Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

if TYPE_CHECKING:
    from rowspace.study import Study


@dataclass(frozen=True)
class Screen:
    """Where a command writes. With `as_json` standard output holds one JSON document and nothing else."""

    quiet: bool = False
    as_json: bool = False
    out: Console = field(default_factory=lambda: Console(highlight=False))
    err: Console = field(default_factory=lambda: Console(stderr=True, highlight=False))

    @contextmanager
    def working(self, message: str) -> Iterator[Callable[[float], None]]:
        """Show a spinner and the time while something is under way, if there is a terminal to show it on.

        What is yielded takes the share that is done, from 0 to 1, where that is known.
        """
        if self.quiet or not self.err.is_terminal:
            yield lambda share: None
            return
        columns = (
            SpinnerColumn(style="dim"),
            TextColumn("{task.description}", style="dim"),
            TaskProgressColumn(style="dim"),
            TimeElapsedColumn(),
        )
        with Progress(*columns, console=self.err, transient=True) as progress:
            task = progress.add_task(message, total=None)
            yield lambda share: progress.update(task, total=1.0, completed=share)

    def show(self, *renderables: RenderableType) -> None:
        """Print for people; nothing when quiet or when a machine is listening."""
        if not (self.quiet or self.as_json):
            for renderable in renderables:
                self.out.print(renderable)

    def result(self, *renderables: RenderableType) -> None:
        """Print what was asked for, quiet or not, unless it goes out as JSON."""
        if not self.as_json:
            for renderable in renderables:
                self.out.print(renderable)

    def remark(self, message: Text | str) -> None:
        """Say something beside the results."""
        if not self.quiet:
            self.err.print(message if isinstance(message, Text) else Text(message))

    def document(self, content: dict[str, Any]) -> None:
        """Write the JSON document, if one was asked for."""
        if self.as_json:
            # Plain standard output: Rich would wrap and colour. Where it lacks letters, JSON spells them in ASCII.
            plain = not (sys.stdout.encoding or "utf-8").lower().startswith("utf")
            sys.stdout.write(
                json.dumps(_finite(content), ensure_ascii=plain, indent=2, allow_nan=False) + "\n"
            )


def _finite(value: Any) -> Any:
    """The same tree with null for numbers that JSON does not have."""
    match value:
        case dict():
            return {key: _finite(item) for key, item in value.items()}
        case list() | tuple():
            return [_finite(item) for item in value]
        case float() if not math.isfinite(value):
            return None
    return value


def remark_on_facts(study: Study, screen: Screen) -> None:
    """Say that questions one by one do not keep to a study's known facts."""
    if study.known:
        screen.remark(
            "note: answers to questions one by one do not keep to the facts of [known]; those of a release do"
        )
