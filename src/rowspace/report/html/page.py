"""One release as one web page that needs nothing else: no network, no fonts, no files.

Guarantees
- The page loads nothing and runs nothing but its own script, whatever the release holds: its templates escape every
  text (`report.pages`), and its own policy forbids the rest
  (tests/report/html/test_page.py::test_hostile_names_stay_text, ::test_nothing_is_loaded).
- The same release, title and budget give the same bytes (tests/report/html/test_page.py::test_equal_input_equal_page).
- It is written whole or not at all (tests/report/html/test_page.py::test_written_whole_or_not_at_all).
- The page of a release with thousands of tables stays below a few megabytes
  (tests/report/html/test_page.py::test_many_tables_make_a_small_page).
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

from rowspace._version import __version__
from rowspace.exceptions import InvalidInput
from rowspace.files import write_whole
from rowspace.ledger import content_digest
from rowspace.privacy import Privacy, odds_bound
from rowspace.releases import TABLE_LIMIT, Combined, Release

from ..explore import Exploration, exploration
from ..numbers import figures, shown_above, whole
from ..pages import own_sheet, render
from ..views import Link, Page, PageTable, Tile
from ..words import one_in, parameters
from .budget import BudgetView, Spending, budget_view
from .gallery import Gallery, gallery
from .listing import Listing, listing
from .planned import Accuracy, Method, accuracy, method
from .promise import Promise, promise

PAPER = (
    "C. Li, M. Hay, V. Rastogi, G. Miklau, A. McGregor. Optimizing linear counting queries under differential privacy. "
    "PODS 2010."
)
_NAMES_SHOWN = 8
_DIGEST_SHOWN = 12


@dataclass(frozen=True)
class Citation:
    """How to refer to the numbers and to the method, and how to check that a file is the release."""

    numbers: str
    facts: tuple[tuple[str, str], ...] = ()
    paper: str = PAPER


@dataclass(frozen=True)
class Combining:
    """How several releases, which have no plan in common, were combined."""

    number: int
    how: str
    table: PageTable


@dataclass(frozen=True)
class Report:
    """The parts of the page, in its order; of several releases `combining` stands in place of a plan."""

    promises: tuple[Promise, ...]
    answers: Gallery
    listing: Listing
    citation: Citation
    accuracy: Accuracy | None = None
    method: Method | None = None
    combining: Combining | None = None
    budget: BudgetView | None = None
    exploration: Exploration | None = None


def write_report(
    release: Release | Combined,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    level: float = 0.95,
    spending: Spending | None = None,
    explore: bool = False,
) -> None:
    """Write the page of a release, or of several combined, to a file, whole or not at all.

    path: where to write. title: the heading, the study's name unless given. level: the confidence level of the
    intervals. spending: a budget and its charges to show beside a release. explore: with a panel in which readers ask
    the release other questions, in the page itself.

    >>> import tempfile, rowspace as rs
    >>> domain = rs.Domain(age=rs.Numeric(0, 4, bins=4))
    >>> plan = rs.plan(rs.workload.ranges(domain, "age"), rs.PureDP(1.0))
    >>> both = rs.combine([rs.release(plan, [10, 20, 30, 40]), rs.release(plan, [10, 20, 30, 40])])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(both, folder + "/both.html", title="Two releases")
    """
    page = report_page(release, title=title, level=level, spending=spending, explore=explore)
    content = page.encode()
    write_whole(path, lambda file: file.write(content))


def report_page(
    release: Release | Combined,
    *,
    title: str | None = None,
    level: float = 0.95,
    spending: Spending | None = None,
    explore: bool = False,
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
    page, report = report_views(release, title, level, spending)
    if not explore:
        return render("report.html", page, script="search.js", report=report)
    page = replace(page, links=(Link("ask", "Ask"), *page.links), skip=Link("ask", "Skip to the questions"))
    report = replace(report, exploration=exploration(release, level))
    return render("report.html", page, sheet=own_sheet("ask.css"), script="search.js explore/", report=report)


def report_views(
    release: Release | Combined, title: str, level: float, spending: Spending | None
) -> tuple[Page, Report]:
    """Everything that the page shows."""
    if isinstance(release, Combined):
        kicker, tiles = "Differentially private releases, combined", _combined_tiles(release)
        report = _combined(release, title, level, spending)
    else:
        kicker, tiles = "Differentially private release", _tiles(release)
        report = _single(release, title, level, spending)
    domain = release.plan.workload.domain
    attributes = [name for name in release.plan.workload.attributes if name not in domain.measured]
    measures = f", sums and means of {', '.join(sorted(domain.measured))}" if domain.measured else ""
    about = ", ".join(attributes[:_NAMES_SHOWN]) + (" and more" if len(attributes) > _NAMES_SHOWN else "")
    lead = (
        f"Counts of records{measures} by {about or 'all records'}, each with noise that protects every single record "
        "and with an error bar that says how much."
    )
    links = [
        Link("privacy", "Privacy"),
        Link("answers", "Answers"),
        *([Link("accuracy", "Accuracy")] if report.accuracy else []),
        Link("plan", "Method"),
        *([Link("budget", "Budget")] if report.budget else []),
        Link("table", "Table"),
        Link("cite", "Citation"),
    ]
    return Page(title, kicker, (lead,), tiles, tuple(links), Link("answers", "Skip to the answers")), report


def _single(release: Release, title: str, level: float, spending: Spending | None) -> Report:
    """The parts of the page of one release."""
    plan, digest = release.plan, content_digest(release.to_bytes())
    numbers = (
        f"{title}. {whole(plan.workload.size)} answers under {plan.privacy}. Released with rowspace {__version__}. "
        f"SHA-256 {digest}."
    )
    rows, cells = plan.strategy.shape
    facts = (
        (
            "noise",
            f"{plan.noise.name}; standard error of an answer {figures([plan.rmse])[0]}, {plan.error_unit} (root mean "
            "square)",
        ),
        ("measured", f"{whole(rows)} noisy answers over {whole(cells)} cells"),
        ("software", f"rowspace {__version__}"),
        ("SHA-256 of the release file", digest),
    )
    return Report(
        (promise(plan.privacy, getattr(release, "part_of", "")),),
        gallery(release, level),
        listing(release, level),
        Citation(numbers, facts),
        accuracy=accuracy(plan),
        method=method(plan),
        budget=None if spending is None else budget_view(spending, digest),
    )


def _combined(both: Combined, title: str, level: float, spending: Spending | None) -> Report:
    """The parts of the page of several releases."""
    if spending is not None:
        raise InvalidInput(
            "the page of several releases shows no budget: leave out spending, or write one for each"
        )
    contents = [release.to_bytes() for release in both.releases] + [found.to_bytes() for found in both.found]
    digests = [content_digest(content) for content in contents]
    numbers = (
        f"{title}. {whole(both.plan.workload.size)} answers under {both.plan.privacy}. {both.made_of} "
        f"combined with rowspace {__version__}. SHA-256 {', '.join(digests)}."
    )
    plans = [release.plan for release in both.releases]
    rmses = figures([plan.rmse for plan in plans])
    table = PageTable(
        "The releases that were combined",
        ("release", "answers", "promise", "standard error by itself", "SHA-256"),
        tuple(
            (str(number), whole(plan.workload.size), str(plan.privacy), rmse, digest[:_DIGEST_SHOWN])
            for number, (plan, rmse, digest) in enumerate(zip(plans, rmses, digests, strict=False), start=1)
        ),
        codes=True,
    )
    return Report(
        tuple(promise(privacy) for privacy in both.spent),
        gallery(both, level),
        listing(both, level),
        Citation(numbers),
        combining=Combining(len(both.releases), both.method, table),
    )


def _tiles(release: Release) -> tuple[Tile, ...]:
    """The four figures of a release."""
    plan = release.plan
    return (
        Tile("answers", whole(plan.workload.size), f"from {whole(plan.domain.size)} cells"),
        Tile("privacy", parameters(plan.privacy), _step(plan.privacy)),
        Tile(
            "typical standard error",
            figures([plan.rmse])[0],
            f"of an answer, {plan.error_unit} (root mean square)",
        ),
        Tile("certificate", *_certificate(release)),
    )


def _combined_tiles(both: Combined) -> tuple[Tile, ...]:
    """The four figures of several releases."""
    workload, others = both.plan.workload, len(both.spent) - 1
    step = f"together with {others} more of another kind" if others else _step(both.spent[0])
    return (
        Tile("answers", whole(workload.size), f"from {whole(workload.domain.size)} cells"),
        Tile("privacy", parameters(both.spent[0]), step),
        Tile("typical standard error", *_typical_error(both)),
        Tile("releases", whole(len(both.releases)), "combined, at no cost of privacy"),
    )


def _typical_error(both: Combined) -> tuple[str, str]:
    """The root mean square of the standard errors."""
    if both.plan.workload.size > TABLE_LIMIT:
        return "–", "the answers are too many to look at"
    if both.plan.domain.measures:
        return "–", "counts and sums have units of their own: see each answer"
    squares = both.answers()["std_error"] ** 2
    return figures([float(squares.mean()) ** 0.5])[0], "of an answer, in counts (root mean square)"


def _certificate(release: Release) -> tuple[str, str]:
    """How close to the best possible, in a figure and words."""
    ratio = release.plan.ratio
    of = " of the worst answer" if release.plan.objective == "max" else ""
    if ratio == float("inf"):
        return "–", "no lower bound is known"
    if ratio < 1.00005:
        return "optimal", f"no strategy does better{' in the worst answer' if of else ''}"
    if ratio < 2:
        return f"{shown_above(100 * (ratio - 1), 2)} %", f"above the best possible squared error{of}, at most"
    return f"× {shown_above(ratio)}", f"the best possible squared error{of}, at most"


def _step(privacy: Privacy) -> str:
    """What neighbouring tables differ in; for ρ also the ε that people compare it by."""
    step = str(privacy.neighbours) if privacy.unit is None else privacy.unit.step(privacy.neighbours)
    bound = odds_bound(privacy)
    if bound is None or not bound.chance:
        return step
    return (
        f"{step}; odds as with ε = {shown_above(bound.epsilon)}, but for a chance of {one_in(bound.chance)}"
    )
