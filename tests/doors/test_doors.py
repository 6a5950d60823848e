"""One question, every door, one number: the same figures everywhere, and without noise the count that pandas gives.

`make doors` asks a thousand questions; here there are enough to go through every door with every kind of strategy.
"""

from __future__ import annotations

import os
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

import rowspace as rs
from rowspace.operators import Scaled
from rowspace.report.html import report_page

from . import asking, deriving, pages, writing  # noqa: F401 - they fill the catalogue
from .doors import DOORS, Asked, Visit, own_rows
from .pages import tables_of
from .worlds import STRATEGIES, Reference, World, world

QUESTIONS = os.environ.get("ROWSPACE_DOORS")
EACH = 2 if QUESTIONS is None else 5
"""Questions of a world."""

WORLDS = len(STRATEGIES) if QUESTIONS is None else -(-int(QUESTIONS) // EACH)


KINDS = {
    "dense": "Dense",
    "kronecker": "Kronecker",
    "p-identity": "PIdentity",
    "hierarchy": "Hierarchy",
    "spectral": "SpectralIntegers",
    "stacked": "Stack",
    "tables, Laplace": "Marginals",
    "tables, Gaussian": "Residuals",
    "product tables, Laplace": "Marginals",
    "product tables, Gaussian": "Residuals",
    "merged": "Merged",
}
"""The strategy of each kind of world; the others choose their own."""


@pytest.fixture(autouse=True)
def _no_windows() -> None:
    mpl.use("agg")


def every_asked(here: World, folder: Path) -> list[Asked]:
    """The releases of a world: noisy, with hardly any noise, and the noisy one combined with another."""
    combined = here.combined
    return [
        Asked(here, here.noisy, Reference.of(here.noisy), folder, quiet=False),
        Asked(here, here.quiet, Reference.of(here.quiet), folder, quiet=True),
        Asked(here, combined, Reference.of(*combined.releases), folder, quiet=False),
    ]


@pytest.mark.parametrize("number", range(WORLDS))
def test_every_door_shows_the_same(number: int, tmp_path: Path) -> None:
    here = world(number)
    questions = here.questions(EACH)
    assert questions
    taken = set()
    for asked in every_asked(here, tmp_path):
        own = Visit(asked, questions[0])
        rows = np.vstack([own_rows(own), *(question.cells for question in questions)])
        check_against_linear_algebra(asked, rows)
        if asked.quiet:
            check_against_pandas(asked, questions)
        for question in questions:
            for name, door in DOORS.items():
                for seen in door(Visit(asked, question)):
                    taken.add(name)
                    assert seen.agrees, (number, here.kind, name, question, seen)
    if number < len(STRATEGIES):  # those of `make test`; others may find that a simpler one is as good
        found = here.noisy.plan.strategy
        assert type(found.of if isinstance(found, Scaled) else found).__name__.endswith(
            KINDS.get(here.kind, "")
        )
        assert here.kind.startswith("product") <= (not getattr(found, "all_cells_alike", False))
    assert {"all_answers", "saved_and_loaded", "exported", "on_the_page"} <= taken


@pytest.mark.parametrize("number", range(WORLDS))
def test_what_was_not_measured_is_refused(number: int) -> None:
    """What dense algebra cannot answer without bias no release answers, whatever the integers of its strategy."""
    here = world(number)
    for made in (here.noisy, here.quiet):
        for question in here.unmeasured(EACH, made):
            with pytest.raises(rs.RowspaceError):
                made.ask(question.sql if hasattr(question, "sql") else question.workload())


def check_against_linear_algebra(asked: Asked, rows: np.ndarray) -> None:
    """Answers and standard errors are those of least squares, done with dense matrices."""
    figures = asked.figures(rows)
    near = 1e-6 * asked.scale
    np.testing.assert_allclose(figures["answer"], asked.reference.answer(rows), atol=near)
    np.testing.assert_allclose(figures["std_error"], asked.reference.std_error(rows), atol=near)
    assert (figures["low"] <= figures["answer"] + near).all()
    assert (figures["answer"] <= figures["high"] + near).all()


def check_against_pandas(asked: Asked, questions: list) -> None:
    """With hardly any noise answers are the counts of the raw table, and intervals hold them."""
    for question in [*asked.world.parts, *questions]:
        figures = asked.figures(question.cells)
        truth = question.truth(asked.world.raw)
        np.testing.assert_array_equal(np.rint(figures["answer"]), truth)
        assert np.abs(figures["answer"] - truth).max() < 0.3


def test_a_table_with_missing_values_is_on_the_page_as_pandas_counts_it() -> None:
    domain = rs.Domain(sex=rs.Categorical(["F", "M"]), income=rs.Categorical(["low", "high"]))
    rows = {("F", "low"): 100, ("F", "high"): 20, ("M", "low"): 400, ("M", "high"): 50, ("M", None): 3}
    rows |= {(None, "low"): 7, (None, None): 1}
    raw = pd.DataFrame([pair for pair, n in rows.items() for _ in range(n)], columns=["sex", "income"])
    for names in (("sex", "income"), ("income", "sex")):
        queries = rs.workload.marginal(domain, *names, missing=True)
        page = report_page(rs.release(rs.plan(queries, rs.PureDP(1e4)), raw))
        ((corner, *across), *body) = tables_of(page, "heat")[0]
        down, along = corner.split(" \\ ")
        found = {
            (row[0], label): round(float(cell.split(" ± ")[0].replace(",", "")))
            for row in body
            for label, cell in zip(across, row[1:], strict=True)
        }
        counts = pd.crosstab(raw[down].fillna("missing"), raw[along].fillna("missing"))
        assert found == counts.stack().to_dict()


def test_mbi_is_a_door_where_it_is_installed() -> None:
    if not writing.HAS_MBI:
        pytest.skip("mbi is not installed, so that nothing went through its door")


def test_a_question_that_was_not_measured_is_refused_at_every_door() -> None:
    """Alike: no door answers what another one cannot."""
    domain = rs.Domain(
        a=rs.Categorical(["x", "y"], outside="drop"), b=rs.Numeric(0, 3, bins=3, outside="drop")
    )
    plan = rs.plan(rs.workload.marginal(domain, "a") + rs.workload.marginal(domain, "b"), rs.ZCDP(0.1))
    made = rs.release(plan, [1, 2, 3, 4, 5, 6])
    for call in (
        lambda: made.ask("a = 'x' and b < 1"),
        lambda: made.ask("SELECT COUNT(*) FROM t WHERE a = 'x' AND b < 1"),
        lambda: made.ask(rs.workload.identity(domain)),
        lambda: made.table("b", "a"),
        lambda: made.top(1, "b", "a"),
        lambda: made.difference("a = 'x' and b < 1", "b < 2"),
        lambda: made.share("a = 'x'", of="b < 1"),
        lambda: made.median("b", where="a = 'x'"),
        lambda: made.plot("a", "b"),
    ):
        with pytest.raises(rs.RowspaceError):
            call()
