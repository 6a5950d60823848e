"""The program: which commands there are, and how it ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from rowspace._research import installed
from rowspace._version import __version__

from .commands import COMMANDS, budget, paper, tokens
from .commands.options import Command, CommandGroup, option
from .failures import exit_code
from .settings import Log, threads, wanted

app = typer.Typer(
    name="rowspace",
    cls=CommandGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)

for command in COMMANDS:
    # Where `paper` could not run it is not listed; who types it all the same is told what to install.
    app.command(cls=Command, hidden=command is paper and not installed())(command)
app.add_typer(budget)
app.add_typer(tokens)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"rowspace {__version__}")
        raise typer.Exit


@app.callback()
def _program(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
    log: Annotated[
        str | None,
        option(
            "json[:FILE]",
            "A line of JSON for every charge and the end, on standard error or in a file.",
            "--log",
        ),
    ] = None,
) -> None:
    """Answer a whole workload of counting queries under differential privacy, with the least noise it allows.

    A study file says what is counted, what is asked and what is promised.
    [bold]check[/bold] shows the data's curator what a study makes of it;
    [bold]plan[/bold] tells how accurate every answer will be, without the data;
    [bold]budget[/bold] keeps what may be spent; [bold]release[/bold] spends some of it, once;
    [bold]ask[/bold] answers more for free; [bold]combine[/bold] makes one of several releases;
    [bold]report[/bold] writes a web page of it all, [bold]registry[/bold] its public entry;
    [bold]serve[/bold] answers analysts over HTTP, on one budget.

    [dim]Examples[/dim]
      rowspace demo
      rowspace init people.parquet            [dim]drafts study.toml; edit it[/dim]
      rowspace check study.toml people.parquet
      rowspace plan study.toml
      rowspace budget create budget.db people --epsilon 3
      rowspace release study.toml people.parquet --ledger budget.db -o p.release
      rowspace ask p.release "age >= 65 and sex = 'F'"
      rowspace report p.release -o people.html

    [dim]Exit codes: 0 done, 1 refused or failed, 2 misused, 75 try again later, 130 interrupted, 143 SIGTERM.[/dim]
    """


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code of the process."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    as_json = "--json" in words[: words.index("--") if "--" in words else None]
    log: Log | None = None

    def action() -> object:
        nonlocal log
        if "_ROWSPACE_COMPLETE" in os.environ:  # Tab: no settings, no log
            return app(args=words, prog_name="rowspace", standalone_mode=False)
        place, rest = wanted(words)
        log = Log(place, rest)
        _limit_threads()
        # Not standalone: a misuse is raised here too, and told in the same style as every other failure.
        return app(args=rest, prog_name="rowspace", standalone_mode=False)

    code = exit_code(action, as_json=as_json)
    if log is not None:
        log.end(code)
    return code


def _limit_threads() -> None:
    """Say how many threads there may be, before anything that reads it is loaded."""
    number = threads()
    if number is not None:
        for name in ("ROWSPACE_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
            os.environ[name] = str(number)
