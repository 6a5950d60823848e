"""Arguments and options that several commands share."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup


def work(module: str) -> Any:
    """The module of `rowspace.cli` that does the work, loaded now: the words of a command need none of it."""
    return import_module(f"rowspace.cli.{module}")


def argument(metavar: str, text: str) -> Any:
    """An argument: what stands for it, and its help."""
    return typer.Argument(metavar=metavar, help=text)


def option(metavar: str, text: str, *names: str, callback: Any = None) -> Any:
    """An option that takes a value: what stands for it, its help, its names."""
    return typer.Option(*names, metavar=metavar, help=text, callback=callback)


def _check_level(level: float) -> float:
    if not 0 < level < 1:
        raise typer.BadParameter("expected a confidence level between 0 and 1, such as 0.95")
    return level


StudyFile = Annotated[Path, argument("STUDY", "The study file (TOML).")]
ReleaseFile = Annotated[Path, argument("RELEASE", "A .release file.")]
Table = Annotated[str | None, option("NAME", "The table, when the data is a database.", "--table")]
Data = Annotated[
    str | None,
    argument(
        "DATA",
        "A CSV or Parquet file, a folder or a pattern of them, their s3://, gs:// or https:// address, a database "
        "file or a database URL; may be left out when the study's \\[data] section says where it is.",
    ),
]
Dataset = Annotated[str | None, option("NAME", "Which budget, if the ledger has several.", "--dataset")]
Outputs = Annotated[
    list[Path] | None,
    option(
        "OUT",
        "Where to write: .release keeps everything, for `ask`; .csv, .parquet, .json and .xlsx are tables. "
        "May be given several times.",
        "--output",
        "-o",
    ),
]
Level = Annotated[float, option("P", "Confidence level of the intervals.", "--level", callback=_check_level)]
Force = Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")]
Json = Annotated[bool, typer.Option("--json", help="Write one JSON document instead of tables.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no summary.")]


class Command(TyperCommand):
    """A command that takes arguments."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, switches without the name of a type."""
        return _adapted(super().get_params(ctx), ctx)


class CommandGroup(TyperGroup):
    """A command that has commands."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, switches without the name of a type."""
        return _adapted(super().get_params(ctx), ctx)


def _adapted(parameters: list[Any], ctx: Any) -> list[Any]:
    """Take the word for a value from options that take none; while words are completed, convert no value."""
    for parameter in parameters:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
        if ctx.resilient_parsing:
            # Nobody looks at the values then, and what converts them takes a tenth of a second to load.
            parameter.process_value = _as_typed
    return parameters


def _as_typed(ctx: Any, value: Any) -> Any:
    """The value as it was typed."""
    return value
