"""``rowspace report`` and ``rowspace registry``: a release as one web page, or as an entry of a public registry."""

from __future__ import annotations

import webbrowser
from datetime import UTC, date, datetime
from pathlib import Path

import typer
from rich.text import Text

from rowspace.ledger import Ledger
from rowspace.releases import FILL_IN, SECTORS, Release, registry_entry, registry_yaml
from rowspace.report.html import Spending, write_report

from .outputs import PAGES, check_endings, check_writable, write_text
from .screen import Screen


def report(
    release_file: Path,
    output: Path,
    *,
    title: str | None,
    ledger: str | None,
    dataset: str | None,
    level: float,
    explore: bool,
    show: bool,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Write the page, with the budget where a ledger is given."""
    screen = Screen(quiet, as_json)
    if dataset is not None and ledger is None:
        raise typer.BadParameter("--dataset names a budget of a ledger: give --ledger too")
    check_endings([output], PAGES)
    check_writable([output], force=force, inputs=[release_file])
    with screen.working("Reading"):
        made = Release.load(release_file)
        spending = None if ledger is None else _spending(ledger, dataset)
    with screen.working("Drawing"):
        name = title or made.plan.title or release_file.stem
        write_report(made, output, title=name, level=level, spending=spending, explore=explore)
    size = output.stat().st_size
    screen.show(
        Text.assemble(" written to ", (str(output), "bold"), f", {size / 1000:,.0f} kB, nothing to load")
    )
    screen.document({"file": str(output), "bytes": size, "title": name})
    if show:
        webbrowser.open(output.absolute().as_uri())


def _spending(location: str, dataset: str | None) -> Spending:
    """A budget and its charges."""
    ledger = Ledger(location)
    return Spending(ledger.budget(dataset), tuple(ledger.history(dataset)))


def registry(
    release_file: Path,
    output: Path | None,
    *,
    name: str | None,
    curators: list[str] | None,
    authors: list[str] | None,
    use: str | None,
    region: str | None,
    sector: str | None,
    published: str | None,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Write the entry, or print it where no file is named."""
    screen = Screen(quiet, as_json)
    if sector is not None and sector not in SECTORS:
        raise typer.BadParameter(f"expected --sector to be one of {', '.join(SECTORS)}")
    if output is not None:
        check_endings([output], (".yaml", ".yml"))
        check_writable([output], force=force, inputs=[release_file])
    made = Release.load(release_file)
    entry = registry_entry(
        made,
        name=name or made.plan.title or release_file.stem,
        date=_day(published),
        curators=tuple(curators or ()),
        authors=tuple(authors or ()),
        use=use,
        region=region,
        sector=sector,
    )
    text = registry_yaml(entry)
    if output is not None:
        write_text(output, text)
        screen.show(Text.assemble(" written to ", (str(output), "bold")))
    elif not as_json:
        typer.echo(text, nl=False)
    left = text.count(FILL_IN)
    if left:
        screen.remark(f"{left} questions are left to you: look for {FILL_IN.strip()!r}")
    screen.document(entry)


def _day(published: str | None) -> str:
    if published is None:
        return datetime.now(UTC).date().isoformat()
    try:
        return date.fromisoformat(published).isoformat()
    except ValueError:
        raise typer.BadParameter("expected --published as a day, such as 2024-05-31") from None
