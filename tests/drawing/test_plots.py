"""Figures show the library's numbers; axes in, the same axes out."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest

import rowspace as rs
from rowspace import error
from rowspace import operators as op
from rowspace.exceptions import InvalidInput, UnsupportedWorkload
from rowspace.ledger import Ledger
from rowspace.ledger.plots import plot_spending
from rowspace.planning.plots import plot_candidates, plot_groups, plot_what_if
from rowspace.releases.chart_data import plot_release

DOMAIN = rs.Domain(
    age=rs.Numeric(0, 8, bins=8),
    place=rs.Categorical(["$a$", "b", "c"], levels={"zone": {"$a$": "x", "b": "x", "c": "y"}}),
)


@pytest.fixture(autouse=True)
def _figures_are_closed() -> Iterator[None]:
    mpl.use("agg")
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


@pytest.fixture(scope="module")
def release() -> rs.Release:
    queries = rs.workload.ranges(DOMAIN, "age") + 2 * rs.workload.marginal(DOMAIN, "age", "place")
    return rs.release(rs.plan(queries, rs.PureDP(1.0), effort="fast"), [9] * 24)


def drawn(ax) -> None:
    """Everything can be laid out and painted, labels with dollar signs too."""
    ax.figure.canvas.draw()


def test_given_axes_come_back(release: rs.Release) -> None:
    import matplotlib.pyplot as plt

    _, ax = plt.subplots()
    assert plot_candidates(release.plan, ax) is ax
    assert plot_release(release, "age", ax=ax) is ax
    assert error.plot_profile(op.Identity(2), ax) is ax
    with pytest.raises(InvalidInput, match="matplotlib axes"):
        plot_groups(release.plan, "here")  # type: ignore[arg-type]


def test_without_matplotlib_every_plot_says_what_to_install(
    release: rs.Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger(tmp_path / "budget.db")
    ledger.create("people", rs.PureDP(3.0))
    rs.release(release.plan, [9] * 24, ledger=ledger)
    for name in ("matplotlib", "matplotlib.axes"):
        monkeypatch.setitem(sys.modules, name, None)
    plan = release.plan
    for plot in (
        plan.plot,
        plan.plot_groups,
        plan.plot_what_if,
        lambda: release.plot("age"),
        lambda: release.plot("age", "place"),
        lambda: plot_spending(ledger),
        lambda: error.plot_profile(op.Identity(2)),
    ):
        with pytest.raises(InvalidInput, match=r"pip install 'rowspace\[plots\]'"):
            plot()


def test_candidates_against_the_bound(release: rs.Release) -> None:
    plan = release.plan
    ax = plot_candidates(plan)
    widths = [bar.get_width() for bar in ax.patches]
    near = [c.total_error for c in plan.candidates if c.total_error <= 64 * plan.candidates[0].total_error]
    assert np.allclose(widths, np.sqrt(np.array(near) / plan.workload.size))
    assert np.isclose(ax.lines[0].get_xdata()[0], np.sqrt(plan.lower_bound / plan.workload.size))
    drawn(ax)


def test_groups(release: rs.Release) -> None:
    ax = plot_groups(release.plan)
    assert np.allclose([bar.get_width() for bar in ax.patches], [g.rmse for g in release.plan.group_errors()])


@pytest.mark.parametrize("privacy", [rs.PureDP(0.5), rs.ApproxDP(0.5, 1e-6), rs.ZCDP(0.5)])
def test_what_if_agrees_with_planning_there(privacy: rs.privacy.Privacy) -> None:
    queries = rs.workload.prefixes(DOMAIN, "age")
    ax = plot_what_if(rs.plan(queries, privacy, effort="fast"), [0.25, 0.5])
    at_half = rs.plan(queries, privacy, effort="fast")
    _, y = ax.lines[0].get_data()
    assert np.isclose(y[1], at_half.rmse, rtol=1e-6)
    assert y[0] > y[1]
    drawn(ax)


def test_a_histogram_with_intervals(release: rs.Release) -> None:
    answers = release.ask(rs.workload.marginal(DOMAIN, "age"), 0.8)
    ax = plot_release(release, "age", level=0.8)
    assert np.allclose([bar.get_height() for bar in ax.patches], answers["answer"])
    ends = np.array([segment[:, 1] for segment in ax.collections[0].get_segments()])
    assert np.allclose(ends, answers[["low", "high"]])
    drawn(ax)


@pytest.mark.parametrize("name", ["place", "zone"])
def test_categories_are_labelled(release: rs.Release, name: str) -> None:
    ax = plot_release(release, name)
    assert len(ax.get_xticklabels()) == len(ax.patches)
    drawn(ax)


def test_a_heat_map_either_way_round(release: rs.Release) -> None:
    table = release.ask(rs.workload.marginal(DOMAIN, "age", "place"))["answer"].to_numpy().reshape(8, 3)
    down = plot_release(release, "age", "place")
    along = plot_release(release, "place", "age")
    assert np.allclose(down.images[0].get_array(), table)
    assert np.allclose(along.images[0].get_array(), table.T)
    assert (along.get_ylabel(), along.get_xlabel()) == ("place", "age")
    drawn(down)


def test_points_of_the_ellipse_have_profile_term_one() -> None:
    M = np.array([[2, -1.5], [-1.5, 2]])
    ax = error.plot_profile(M, label="M₂")
    w = np.array(ax.lines[0].get_data())
    assert np.allclose(np.einsum("ij,ik,kj->j", w, M, w), 1)
    drawn(ax)


def test_bad_figures_are_refused(release: rs.Release) -> None:
    with pytest.raises(InvalidInput, match="2 cells"):
        error.plot_profile(op.Identity(3))
    with pytest.raises(InvalidInput, match="one attribute or two"):
        plot_release(release)
    with pytest.raises(InvalidInput, match="list of values"):
        plot_what_if(release.plan, [])
    small = rs.plan(rs.workload.total(DOMAIN), rs.PureDP(1.0))
    with pytest.raises((UnsupportedWorkload, InvalidInput)):
        plot_release(rs.release(small, [1] * small.domain.size), "age")


def test_spending(release: rs.Release, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "budget.db")
    ledger.create("people", rs.PureDP(3.0))
    with pytest.raises(InvalidInput, match="nothing to draw"):
        plot_spending(ledger)
    for _ in range(2):
        ledger.charge(release.plan, release.to_bytes())
    ax = plot_spending(ledger)
    assert list(ax.lines[0].get_ydata()) == [1.0, 2.0]
    drawn(ax)


def overlap(labels) -> bool:
    """Whether labels that stand side by side touch."""
    boxes = sorted(
        (label.get_window_extent() for label in labels if label.get_text()), key=lambda box: box.x0
    )
    return any(a.x1 > b.x0 for a, b in pairwise(boxes))


@pytest.mark.parametrize("width", [3.0, 6.4])
def test_labels_do_not_touch(width: float) -> None:
    """A dozen places in a narrow figure are turned; where they are not, there is room for them."""
    import matplotlib.pyplot as plt

    domain = rs.Domain(place=rs.Categorical([f"P{i:02d}" for i in range(12)]), sex=rs.Categorical(["F", "M"]))
    plan = rs.plan(rs.workload.marginal(domain, "place", "sex"), rs.PureDP(1.0), effort="fast")
    made = rs.release(plan, [12_345] * 24)
    for names in (("place",), ("sex", "place")):
        _, ax = plt.subplots(figsize=(width, 3), layout="constrained")
        ax = plot_release(made, *names, ax=ax)
        drawn(ax)
        labels = ax.get_xticklabels()
        turned = labels[0].get_rotation() == 45
        assert turned or width > 6
        assert turned or not overlap(labels)
    _, ax = plt.subplots(figsize=(width, 3), layout="constrained")
    drawn(plot_release(made, "sex", ax=ax))
    assert any("," in label.get_text() for label in ax.get_yticklabels())


def test_long_names_leave_room_for_their_bars() -> None:
    domain = rs.Domain({f"a{i}": rs.Numeric(0, 4, bins=4) for i in range(8)})
    queries = rs.workload.predicates(domain, [f"a{i} < 2 and a{(i + 1) % 8} >= 2" for i in range(8)])
    ax = plot_candidates(rs.plan(queries, rs.PureDP(1.0), effort="fast"))
    drawn(ax)
    for label in ax.get_yticklabels():
        assert max(map(len, label.get_text().split("\n"))) <= 30
        assert label.get_text().count("\n") <= 1


def test_groups_that_are_left_out_are_counted() -> None:
    domain = rs.Domain({f"a{i}": rs.Categorical(["x", "y"]) for i in range(8)})
    ax = plot_groups(rs.plan(rs.workload.marginals(domain, up_to=2), rs.ZCDP(0.5)))
    assert ax.get_xlabel().endswith("(the first 30 of 37 groups)")
