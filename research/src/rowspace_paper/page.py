"""The reproduction as one web page that loads nothing, in the look of the report."""

from __future__ import annotations

from markupsafe import Markup

from rowspace.report.html.page import PAPER
from rowspace.report.pages import render
from rowspace.report.views import Link, Page, Tile

from .drawing import chart_card, matrix_card
from .elements import element, fragment
from .record import Cell, Chapter, Claim, Table, Verdict, number
from .reproduction import Reproduction

_CLASSES = {
    Verdict.HOLDS: "holds",
    Verdict.CORRECTED: "corrected",
    Verdict.FAILS: "fails",
    Verdict.ANSWERED: "answered",
    Verdict.UNCONFIRMED: "fails",
}

_SHEET = """
:root { --bad: #b3261e; --warn: #8a4b00; }
@media (prefers-color-scheme: dark) { :root { --bad: #ff9d94; --warn: #f0b45c; } }
.lead cite { font-style: normal; color: var(--ink); }
.verdict { display: inline-block; border: 1px solid currentColor; border-radius: 999px; padding: 0 .6rem;
  font-size: .78rem; font-weight: 600; line-height: 1.5; white-space: nowrap; }
.verdict.holds { color: var(--good); } .verdict.corrected { color: var(--warn); }
.verdict.fails { color: var(--bad); } .verdict.answered { color: var(--accent); }
table.claims { table-layout: fixed; min-width: 58rem; } table.claims.errata { min-width: 36rem; }
nav ul { gap: 1.05rem; }
table.claims th, table.claims td { text-align: left; white-space: normal; overflow-wrap: break-word;
  vertical-align: top; line-height: 1.45; }
table.claims col.where { width: 8rem; } table.claims col.paper { width: 17%; } table.claims col.ours { width: 25%; }
table.claims col.verdict-column { width: 13.5rem; }
table.claims .correction { display: block; margin-top: .35rem; color: var(--ink); font-size: .84rem; }
table.claims code { display: block; margin-top: .35rem; color: var(--muted); font-size: .68rem; }
table.claims tbody th { font-weight: 600; }
section > .card { margin-top: 1.25rem; }
.card h3 + p { color: var(--muted); font-size: .86rem; margin: .1rem 0 .8rem; max-width: none; line-height: 1.45; }
td.words { text-align: left; }
.matrices { display: flex; flex-wrap: wrap; gap: 1.25rem; margin: 1.25rem 0; }
.matrix-card { margin: 0; background: var(--surface); border: 1px solid var(--line); border-radius: 12px;
  padding: .9rem 1.1rem; }
.matrix-card figcaption { margin: 0 0 .5rem; display: flex; gap: .7rem; align-items: baseline; }
.matrix-card small { color: var(--muted); }
.scaled { display: flex; align-items: center; gap: .5rem; font-size: .88rem; }
.matrix { display: inline-grid; gap: .05rem .8rem; padding: .1rem .6rem; text-align: right;
  border: solid var(--muted); border-width: 0 1.5px; border-radius: 6px; }
.stroke { width: 1.75rem; height: .65rem; margin-right: .45rem; }
.plane { width: min(100%, 26rem); display: block; margin: 0 auto; overflow: visible; }
.plane .unit { fill: var(--muted); font-size: 26px; }
.cards:empty { display: none; }
@media (max-width: 40rem) {
  table.claims, table.claims.errata, table.claims tbody { display: block; min-width: 0; }
  table.claims thead, table.claims colgroup { display: none; }
  table.claims tr, table.claims th, table.claims td { display: block; border: 0; padding: .12rem 0; }
  table.claims tr { border-bottom: 1px solid var(--line); padding: .8rem 0; }
  table.claims td[data-label]::before { content: attr(data-label); display: block; color: var(--muted);
    font-size: .76rem; margin-top: .3rem; }
}
@media print { .verdict { border-width: .5pt; } table.claims { min-width: 0; font-size: 8pt; } }
""".strip()


def paper_page(reproduction: Reproduction) -> str:
    """The page as text."""
    chapters = reproduction.chapters
    errata = [claim for claim in reproduction.claims if claim.correction]
    content = fragment(
        element("section", element("h2", "Errata, each demonstrated"), _errata(errata), id="errata"),
        *(_section(chapter) for chapter in chapters),
        _method(),
    )
    return render("base.html", _frame(reproduction), sheet=_SHEET, content=content)


def _frame(reproduction: Reproduction) -> Page:
    """What this is, and how it came out."""
    count = reproduction.count
    tiles = [
        Tile("claims checked", str(len(reproduction.claims)), "figures, tables, examples, theorems"),
        Tile("hold as printed", str(count(Verdict.HOLDS)), "by the computation beside each"),
        Tile("hold corrected", str(count(Verdict.CORRECTED)), "slips, with the value that holds"),
        Tile("do not hold", str(count(Verdict.FAILS)), "statements with a counterexample"),
        Tile("open questions", str(count(Verdict.ANSWERED)), "answered at the end"),
    ]
    if doubtful := count(Verdict.UNCONFIRMED):
        tiles.append(Tile("not confirmed", str(doubtful), "our computation disagrees with this page: a bug"))
    lead = (
        "Every figure, table, example and numeric claim of the full version, computed again: the paper's value, ours, "
        "and whether the text or a corrected value holds. Then what the paper left open."
    )
    chapters = reproduction.chapters
    return Page(
        "The matrix mechanism, reproduced",
        "A paper, reproduced",
        (element("cite", PAPER), lead),
        tuple(tiles),
        (Link("errata", "Errata"), *(Link(chapter.key, chapter.short) for chapter in chapters)),
        Link(chapters[0].key, "Skip to the claims"),
        heading="Optimizing linear counting queries under differential privacy",
    )


def _errata(claims: list[Claim]) -> Markup:
    """What the text says and what holds, in one place."""
    rows = [
        element(
            "tr",
            element("th", claim.source.where, scope="row"),
            element("td", claim.source.words, data_label="the text says"),
            element("td", claim.correction, data_label="what holds"),
        )
        for claim in claims
    ]
    columns = [element("col", class_=name) for name in ("where", "words", "words")]
    return _words_table(columns, ("where", "the text says", "what holds"), rows, "claims errata")


def _section(chapter: Chapter) -> Markup:
    return element(
        "section",
        element("h2", chapter.title),
        element("p", chapter.summary),
        element("div", *map(matrix_card, chapter.matrices), class_="matrices") if chapter.matrices else None,
        _claims(chapter.claims),
        element("div", *map(chart_card, chapter.charts), class_="cards") if chapter.charts else None,
        *map(_card_table, chapter.tables),
        id=chapter.key,
    )


def _claims(claims: tuple[Claim, ...]) -> Markup:
    rows = [
        element(
            "tr",
            element("th", claim.source.where, scope="row"),
            element("td", claim.source.words, element("code", claim.source.function)),
            element("td", claim.printed, data_label="paper"),
            element("td", claim.ours, data_label="ours"),
            element(
                "td",
                element("span", str(claim.verdict), class_=f"verdict {_CLASSES[claim.verdict]}"),
                element("span", claim.correction, class_="correction") if claim.correction else None,
            ),
        )
        for claim in claims
    ]
    columns = [element("col", class_=name) for name in ("where", "words", "paper", "ours", "verdict-column")]
    return _words_table(columns, ("where", "claim", "paper", "ours", "verdict"), rows)


def _words_table(
    columns: list[Markup], headings: tuple[str, ...], rows: list[Markup], kind: str = "claims"
) -> Markup:
    """A table of sentences, in columns of fixed width."""
    heads = [element("th", name, scope="col") for name in headings]
    table = element(
        "table",
        element("colgroup", *columns),
        element("thead", element("tr", *heads)),
        element("tbody", *rows),
        class_=kind,
    )
    return element("div", _scrolling(table, " and ".join(headings)), class_="card")


def _scrolling(table: Markup, name: str) -> Markup:
    """A wide table that a keyboard can scroll too."""
    return element("div", table, class_="scroll", tabindex="0", role="region", aria_label=name)


def _card_table(table: Table) -> Markup:
    """A table of figures under its title; words to the left, numbers to the right."""
    rows = [
        element(
            "tr",
            element("th", _written(row[0]), scope="row"),
            *(
                element("td", _written(cell), class_="words" if isinstance(cell, str) else None)
                for cell in row[1:]
            ),
        )
        for row in table.rows
    ]
    wordy = [bool(table.rows) and isinstance(table.rows[0][at], str) for at in range(len(table.headings))]
    heads = [
        element("th", name, scope="col", style="text-align:left" if words else None)
        for name, words in zip(table.headings, wordy, strict=True)
    ]
    drawn = element("table", element("thead", element("tr", *heads)), element("tbody", *rows))
    return element(
        "div",
        element("h3", table.title),
        element("p", table.caption),
        _scrolling(drawn, table.title),
        class_="card",
    )


def _written(cell: Cell) -> str:
    return cell if isinstance(cell, str) else number(cell)


def _method() -> Markup:
    return element(
        "section",
        element("h2", "How to check this page"),
        fragment(
            element(
                "p",
                "The command ",
                element("code", "rowspace paper"),
                " writes it, with the same figures in ",
                element("code", "paper.json"),
                ".",
            ),
            element(
                "p",
                "A verdict is not written down but computed: a claim holds if the numbers beside it say so, "
                "and a correction counts only if the printed value is found wrong and the corrected one "
                "right. Below each claim stands the function that computes it; docs/paper.md names the test "
                "that keeps it. Theorems have the numbers of the conference version.",
            ),
        ),
        id="method",
    )
