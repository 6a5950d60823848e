"""What ``rowspace paper`` does; its words are with those of the other commands, in `rowspace.cli`."""

from __future__ import annotations

import json
import webbrowser
from pathlib import Path

import typer
from rich.table import Table
from rich.text import Text

from rowspace.cli.outputs import check_writable, make_folder, write_text
from rowspace.cli.screen import Screen

from . import FULL, QUICK, Chapter, Claim, Reproduction, Verdict, reproduce
from .document import paper_document
from .page import paper_page

_STYLES = {
    Verdict.HOLDS: "green",
    Verdict.CORRECTED: "yellow",
    Verdict.FAILS: "red",
    Verdict.ANSWERED: "blue",
    Verdict.UNCONFIRMED: "bold red",
}


def paper(output: Path, *, quick: bool, show: bool, force: bool, as_json: bool, quiet: bool) -> None:
    """Write the reproduction, and fail if a claim was not confirmed."""
    screen = Screen(quiet, as_json)
    page, figures, document = (output / name for name in ("paper.html", "paper.json", "paper.md"))
    make_folder(output)
    check_writable([page, figures, document], force=force)
    with screen.working("Computing"):
        made = reproduce(QUICK if quick else FULL, lambda chapter: screen.show(_chapter(chapter)))
    tree = made.to_dict()
    write_text(page, paper_page(made))
    write_text(figures, json.dumps(tree, ensure_ascii=False, indent=1) + "\n")
    write_text(document, paper_document(made))
    screen.show(_summary(made, output))
    screen.document(tree)
    if show:
        webbrowser.open(page.absolute().as_uri())
    if made.count(Verdict.UNCONFIRMED):
        raise typer.Exit(1)


def _chapter(chapter: Chapter) -> Table:
    """One chapter's claims, a line each."""
    table = Table(
        title=chapter.title,
        title_justify="left",
        title_style="bold",
        box=None,
        pad_edge=False,
        expand=True,
        show_header=False,
    )
    table.add_column("where", style="dim", no_wrap=True, width=20)
    table.add_column("paper", no_wrap=True, ratio=2)
    table.add_column("ours", no_wrap=True, ratio=3)
    table.add_column("verdict", no_wrap=True, width=24)
    for claim in chapter.claims:
        table.add_row(claim.source.where, Text(claim.printed), Text(claim.ours), _verdict(claim))
    return table


def _verdict(claim: Claim) -> Text:
    return Text(str(claim.verdict), style=_STYLES[claim.verdict])


def _summary(made: Reproduction, output: Path) -> Text:
    return Text.assemble(
        f"\n {len(made.claims)} claims in {made.seconds:.0f} s: ",
        (f"{made.count(Verdict.HOLDS)} hold", "green"),
        ", ",
        (f"{made.count(Verdict.CORRECTED)} hold corrected", "yellow"),
        ", ",
        (f"{made.count(Verdict.FAILS)} do not hold", "red"),
        ", ",
        (f"{made.count(Verdict.ANSWERED)} open questions answered", "blue"),
        ", ",
        (f"{made.count(Verdict.UNCONFIRMED)} not confirmed", "bold"),
        ". Written to ",
        (str(output), "bold"),
        ".",
    )
