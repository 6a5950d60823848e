"""One release as one web page that needs nothing else: no network, no fonts, no files.

Guarantees
- The page loads nothing and runs nothing but its own script, whatever the release holds: elements are built, not pasted
  (`rowspace.markup`), and the page's own policy forbids the rest
  (tests/report/html/test_page.py::test_hostile_names_stay_text, ::test_nothing_is_loaded).
- The same release, title and budget give the same bytes (tests/report/html/test_page.py::test_equal_input_equal_page).
- It is written whole or not at all (tests/report/html/test_page.py::test_written_whole_or_not_at_all).
- The page of a release with thousands of tables stays below a few megabytes
  (tests/report/html/test_page.py::test_many_tables_make_a_small_page).
"""

from __future__ import annotations

import os

from rowspace._version import __version__
from rowspace.exceptions import InvalidInput
from rowspace.files import write_whole
from rowspace.ledger import content_digest
from rowspace.markup import Markup, element, fragment
from rowspace.planning import interval_words
from rowspace.privacy import Privacy, odds_bound
from rowspace.releases import Combined, Release

from ..numbers import figures, shown_above, whole
from ..words import parameters
from .answers import answer_tables
from .budget import Spending, budget_words
from .combining import combined_citation, combined_method, combined_privacy, combined_tiles
from .gallery import gallery
from .planned import MOST_GROUPS, accuracy, strategy
from .privacy import privacy_words
from .script import SOURCE
from .shell import Tile, links, opening, whole_page

PAPER = (
    "C. Li, M. Hay, V. Rastogi, G. Miklau, A. McGregor. Optimizing linear counting queries under differential privacy. "
    "PODS 2010."
)
_MOST_GROUPS_EXAMINED = 20 * MOST_GROUPS


def write_report(
    release: Release | Combined,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    level: float = 0.95,
    spending: Spending | None = None,
) -> None:
    """Write the page of a release, or of several combined, to a file, whole or not at all.

    path: where to write. title: the heading, the study's name unless given. level: the confidence level of the
    intervals. spending: a budget and its charges to show beside a release.

    >>> import tempfile, rowspace as rs
    >>> domain = rs.Domain(age=rs.Numeric(0, 4, bins=4))
    >>> plan = rs.plan(rs.workload.ranges(domain, "age"), rs.PureDP(1.0))
    >>> both = rs.combine([rs.release(plan, [10, 20, 30, 40]), rs.release(plan, [10, 20, 30, 40])])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(both, folder + "/both.html", title="Two releases")
    """
    content = report_page(release, title=title, level=level, spending=spending).encode()
    write_whole(path, lambda file: file.write(content))


def report_page(
    release: Release | Combined,
    *,
    title: str | None = None,
    level: float = 0.95,
    spending: Spending | None = None,
) -> str:
    """The page as text. Cost: that of asking the release for what is drawn, all of it free of privacy cost.

    >>> import rowspace as rs
    >>> domain = rs.Domain(age=rs.Numeric(0, 4, bins=4))
    >>> plan = rs.plan(rs.workload.ranges(domain, "age"), rs.PureDP(1.0))
    >>> page = report_page(rs.release(plan, [10, 20, 30, 40]), title="Four ages")
    >>> page.startswith("<!doctype html>") and "<h1>Four ages</h1>" in page
    True
    """
    title = title or getattr(release.plan, "title", "") or "Release"
    if isinstance(release, Combined):
        sections = _combined_sections(release, title, level, spending)
    else:
        sections = _sections(release, title, level, spending, content_digest(release.to_bytes()))
    return whole_page(
        title,
        _header(release, title),
        links((anchor, short) for anchor, short, _, _ in sections),
        element(
            "main",
            *(
                element("section", element("h2", heading), content, id=anchor)
                for anchor, _, heading, content in sections
            ),
        ),
        skip=("Skip to the answers", "answers"),
        script=SOURCE,
    )


def _header(release: Release | Combined, title: str) -> Markup:
    """What this is, and the four figures that matter."""
    plan = release.plan
    about = ", ".join(plan.workload.attributes[:8]) + (
        " and more" if len(plan.workload.attributes) > 8 else ""
    )
    several = isinstance(release, Combined)
    return opening(
        "Differentially private releases, combined" if several else "Differentially private release",
        title,
        f"Counts of records by {about or 'all records'}, each with noise that protects every single record and with an "
        "error bar that says how much.",
        tiles=_combined_tiles(release) if isinstance(release, Combined) else _tiles(release),
    )


def _tiles(release: Release) -> tuple[Tile, ...]:
    """The four figures of a release."""
    plan = release.plan
    return (
        ("answers", whole(plan.workload.size), f"from {whole(plan.domain.size)} cells"),
        ("privacy", parameters(plan.privacy), _step(plan.privacy)),
        ("typical standard error", figures([plan.rmse])[0], "of an answer, in counts (root mean square)"),
        ("certificate", *_certificate(release)),
    )


def _combined_tiles(both: Combined) -> tuple[Tile, ...]:
    """The four figures of several releases."""
    return combined_tiles(both, parameters(both.spent[0]), _step(both.spent[0]))


def _certificate(release: Release) -> tuple[str, str]:
    """How close to the best possible, in a figure and words."""
    ratio = release.plan.ratio
    of = " of the worst answer" if release.plan.objective == "max" else ""
    if ratio == float("inf"):
        return "–", "no lower bound is known"
    if ratio < 1.00005:
        return "optimal", f"no strategy does better{' in the worst answer' if of else ''}"
    if ratio < 2:
        return f"{100 * (ratio - 1):.2g} %", f"above the best possible squared error{of}, at most"
    return f"× {ratio:.3g}", f"the best possible squared error{of}, at most"


def _step(privacy: Privacy) -> str:
    """What neighbouring tables differ in; for ρ also the ε that people compare it by."""
    step = str(privacy.neighbours) if privacy.unit is None else privacy.unit.step(privacy.neighbours)
    bound = odds_bound(privacy)
    if bound is None or not bound.chance:
        return step
    return f"{step}; odds as with ε = {shown_above(bound.epsilon)}, but for a chance of {bound.chance:g}"


def _sections(
    release: Release, title: str, level: float, spending: Spending | None, digest: str
) -> list[tuple[str, str, str, Markup]]:
    """Anchor, short name, heading and content of every part of the page."""
    plan = release.plan
    groups = {part.group for part in plan.workload.parts}
    errors = plan.group_errors() if len(groups) <= _MOST_GROUPS_EXAMINED else None
    sections = [
        ("privacy", "Privacy", "What it means for a person", privacy_words(plan.privacy)),
        ("answers", "Answers", "The answers", _charts(release, level)),
        ("accuracy", "Accuracy", "How accurate they are", accuracy(plan, errors)),
        ("plan", "Method", "How they were obtained", strategy(plan)),
    ]
    if spending is not None:
        sections.append(("budget", "Budget", "The budget", budget_words(spending, digest)))
    sections.append(("table", "Table", "Answer by answer", answer_tables(release, level)))
    sections.append(("cite", "Citation", "Citing and checking", _citing(release, title, digest)))
    return sections


def _combined_sections(
    both: Combined, title: str, level: float, spending: Spending | None
) -> list[tuple[str, str, str, Markup]]:
    """The parts of the page of several releases, which have no plan in common."""
    if spending is not None:
        raise InvalidInput(
            "the page of several releases shows no budget: leave out spending, or write one for each"
        )
    return [
        ("privacy", "Privacy", "What it means for a person", combined_privacy(both)),
        ("answers", "Answers", "The answers", _charts(both, level)),
        ("plan", "Method", "How they were obtained", combined_method(both)),
        ("table", "Table", "Answer by answer", answer_tables(both, level)),
        ("cite", "Citation", "Citing and checking", combined_citation(both, title, PAPER)),
    ]


def _charts(release: Release | Combined, level: float) -> Markup:
    """What was released, drawn."""
    drawn = gallery(release, level)
    left_out = release.plan.population
    return fragment(
        element("p", element("strong", left_out)) if left_out else None,
        element(
            "p",
            f"{interval_words(left_out, level)} A number after ± is half the width of that interval. Answers agree "
            "with one another; a negative or fractional count is noise, not a mistake.",
        ),
        *(
            fragment(
                element("div", *block.wide, class_="cards") if block.wide else None,
                element("div", *block.narrow, class_="masonry") if block.narrow else None,
            )
            for block in drawn.blocks
        ),
        *(element("p", remark, class_="note") for remark in drawn.remarks),
    )


def _citing(release: Release, title: str, digest: str) -> Markup:
    """How to refer to the release, and how to check that a file is it."""
    plan = release.plan
    citation = (
        f"{title}. {whole(plan.workload.size)} counts under {plan.privacy}. Released with rowspace {__version__}. "
        f"SHA-256 {digest}."
    )
    facts = (
        (
            "noise",
            f"{plan.noise.name}; standard error of an answer {figures([plan.rmse])[0]} (root mean square)",
        ),
        (
            "measured",
            f"{whole(plan.strategy.shape[0])} noisy answers over {whole(plan.strategy.shape[1])} cells",
        ),
        ("software", f"rowspace {__version__}"),
        ("SHA-256 of the release file", digest),
    )
    return fragment(
        element("p", "Cite these numbers as"),
        element("pre", citation),
        element("p", "and the method as"),
        element("pre", PAPER),
        element(
            "dl",
            *(
                pair
                for name, value in facts
                for pair in (element("dt", name), element("dd", element("code", value)))
            ),
            class_="facts",
        ),
        element("p", "Any further computation on these numbers costs no privacy.", class_="note"),
    )
