"""The words of the commands that serve questions over HTTP: the service, and the tokens of those who ask."""

from __future__ import annotations

import os
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from .options import Command, CommandGroup, Dataset, Json, Quiet, StudyFile, Table, argument, option, work


def serve(
    study_file: StudyFile,
    data: Annotated[str, argument("DATA", "A CSV or Parquet file, a database file or a database URL.")],
    ledger: Annotated[
        str,
        option(
            "LEDGER", "The budget that pays: a file, or a PostgreSQL URL for several machines.", "--ledger"
        ),
    ],
    dataset: Dataset = None,
    table: Table = None,
    version: Annotated[
        str | None,
        option(
            "NAME",
            "Which version of the table it is: evidence about another one is not used.",
            "--table-version",
        ),
    ] = None,
    tokens: Annotated[
        Path | None,
        option(
            "FILE", "Who may ask, made by `rowspace tokens add`; without it a link for you alone.", "--tokens"
        ),
    ] = None,
    host: Annotated[
        str, option("ADDRESS", "The address to bind; others need --public.", "--host")
    ] = "127.0.0.1",
    port: Annotated[int, option("PORT", "The port; 0 takes a free one.", "--port")] = 8000,
    public: Annotated[
        str | None,
        option(
            "NAME", "The name that others reach it by, through a reverse proxy that adds TLS.", "--public"
        ),
    ] = None,
    workers: Annotated[int, option("N", "Processes that answer.", "--workers")] = 1,
    psql_port: Annotated[
        int | None,
        option("PORT", "Answer SQL clients such as psql here too; 0 takes a free port.", "--psql-port"),
    ] = None,
    rate: Annotated[float, option("R", "Requests a second that each token may send.", "--rate")] = 50.0,
    quiet: Quiet = False,
) -> None:
    """Answer analysts over HTTP: a page and a JSON API, on one budget.

    What was bought before answers for free; what is missing is priced first and paid once, in the analyst's name,
    within their cap. All that is known is in the ledger: several processes on one ledger give the same answers.
    It binds this machine only; TLS is a reverse proxy's. SIGTERM lets running requests finish.

    [dim]Examples[/dim]
      rowspace serve study.toml people.parquet --ledger budget.db
      rowspace serve study.toml people.parquet --ledger budget.db --tokens t.toml
      rowspace serve s.toml p.csv --ledger b.db --tokens t.toml --public ask.example.org
      rowspace serve s.toml p.csv --ledger b.db --tokens t.toml --psql-port 5433
    """
    # BLAS reads it when it loads. Requests are answered in threads, where `one_thread_if_small` has no hold on it, and
    # threads that share a small matrix took ten times the time of one on a busy machine.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    work("serving").serve_study(**locals())


def studio(
    study_file: StudyFile,
    data: Annotated[
        str | None,
        argument("[DATA]", "The table, for a curator's check of the study against it; planning needs none."),
    ] = None,
    ledger: Annotated[
        str | None, option("LEDGER", "The budget that pays, to release from the page too.", "--ledger")
    ] = None,
    dataset: Dataset = None,
    table: Table = None,
    port: Annotated[int, option("PORT", "The port on this machine; a free one unless given.", "--port")] = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the link only; do not open it.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Plan in a browser: slide ε, drag errors, add questions, and save the study. [bold]Needs no data.[/bold]

    The page is on this machine only, for whoever has the link that is printed. It shows how accurate every answer
    will be at every ε, finds the ε that errors need, and writes the study file when you save, and nothing else.
    With DATA and --ledger it releases too, in a step of its own that names the charge and what remains.

    [dim]Examples[/dim]
      rowspace studio study.toml
      rowspace studio study.toml --port 8100 --no-browser
      rowspace studio study.toml people.csv      [dim]with a check, for the curator[/dim]
      rowspace studio study.toml people.csv --ledger budget.db
    """
    work("serving").studio_of(**locals())


tokens = typer.Typer(
    name="tokens",
    cls=CommandGroup,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    help="Say who may ask a service: add, list and revoke tokens. Only their digests are kept.\n\n"
    "[dim]Examples[/dim]\n"
    "  rowspace tokens add tokens.toml ann --cap 0.1\n"
    "  rowspace tokens list tokens.toml",
)

TokenFile = Annotated[Path, argument("FILE", "The file of tokens (TOML).")]
Name = Annotated[str, argument("NAME", "Whose it is; what is spent is counted by this name.")]


class RoleOption(StrEnum):
    """What a token allows."""

    ANALYST = "analyst"
    STEWARD = "steward"


@tokens.command(cls=Command)
def add(
    file: TokenFile,
    name: Name,
    role: Annotated[
        RoleOption, option("ROLE", "analyst asks and spends; steward sees all and spends nothing.", "--role")
    ] = RoleOption.ANALYST,
    cap: Annotated[
        float | None,
        option("X", "The most this name may spend, in the budget's unit, over all time.", "--cap"),
    ] = None,
    expires: Annotated[datetime | None, option("DATE", "When the token ends (UTC).", "--expires")] = None,
    as_json: Json = False,
) -> None:
    """Make a token and print it: it is shown once, and only its digest is kept.

    [dim]Examples[/dim]
      rowspace tokens add tokens.toml ann --cap 0.1 --expires 2027-01-01
      rowspace tokens add tokens.toml sam --role steward
    """
    work("serving").add_token(**locals())


@tokens.command("list", cls=Command)
def list_(file: TokenFile, as_json: Json = False) -> None:
    """List who has a token: role, cap, end.

    [dim]Examples[/dim]
      rowspace tokens list tokens.toml
    """
    work("serving").list_tokens(**locals())


@tokens.command(cls=Command)
def revoke(file: TokenFile, name: Name) -> None:
    """Take a token back; a running service sees it at once. What was spent stays with the name.

    [dim]Examples[/dim]
      rowspace tokens revoke tokens.toml ann
    """
    work("serving").revoke_token(**locals())
