"""Longer versions of the privacy tests: `python -m audits`, or `make audit`.

Every module with a function ``run(long: bool) -> list[Row]`` is an audit; `python -m audits` finds them all, prints one
table and ends with 1 if a row failed. Modules without it are what audits are built of. ``run(long=False)`` is the
version for the ordinary test suite: seconds, with the same verdicts. A module that has to be run by itself
(`python -m audits.samplers`) ends in ``if __name__ == "__main__": end(run(long=True))``.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import NoReturn


@dataclass(frozen=True)
class Row:
    """One line of the table: what was audited, what was found, what had to hold, and whether it did."""

    name: str
    figure: str
    limit: str
    ok: bool


def audit_modules() -> list[ModuleType]:
    """All audits of this package, by name."""
    import importlib
    import pkgutil

    names = sorted(module.name for module in pkgutil.iter_modules(__path__) if module.name != "__main__")
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    return [module for module in modules if hasattr(module, "run")]


def show(rows: list[Row], title: str) -> None:
    """Print rows as a table."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left", title_style="bold")
    table.add_column("audit", overflow="fold")
    table.add_column("found", overflow="fold")
    table.add_column("required", overflow="fold")
    table.add_column("verdict")
    for row in rows:
        table.add_row(row.name, row.figure, row.limit, "[green]ok[/]" if row.ok else "[bold red]FAILED[/]")
    console = Console(highlight=False)
    if not console.is_terminal:  # a file or a log has no width to fit into
        console.width = 160
    console.print(table)


def end(rows: list[Row], title: str = "") -> NoReturn:
    """Print rows and end the process: 0 if all are well, 1 otherwise."""
    show(rows, title)
    raise SystemExit(0 if rows and all(row.ok for row in rows) else 1)
