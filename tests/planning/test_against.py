"""plan(given=…): best together with earlier releases, as combine answers them."""

from __future__ import annotations

import numpy as np
import pytest

import rowspace as rs
from rowspace.exceptions import InvalidInput, UnsupportedWorkload

DOMAIN = rs.Domain(age=rs.Numeric(0, 16, bins=16, integer=True), sex=rs.Categorical(["F", "M"]))
COUNTS = np.random.default_rng(3).integers(0, 200, DOMAIN.with_places().shape)
RANGES = rs.workload.product(DOMAIN, age="ranges", sex="identity")
TABLE = rs.workload.marginal(DOMAIN, "age", "sex")
PRIVACIES = [rs.ZCDP(0.2), rs.PureDP(0.5), rs.ApproxDP(1.0, 1e-6)]


@pytest.fixture(params=PRIVACIES, ids=str)
def earlier(request):
    return rs.release(rs.plan(RANGES, request.param), COUNTS)


def test_the_planned_error_is_that_of_all_releases_together(earlier):
    plan = rs.plan(TABLE, earlier.plan.privacy, given=[earlier])
    both = rs.combine([earlier, rs.release(plan, COUNTS)])
    table = both.ask(TABLE)
    assert np.allclose(table["std_error"] ** 2, plan.query_errors())
    standard, half = plan.error_bars(0.9)
    found = both.ask(TABLE, level=0.9)
    assert np.allclose(found["std_error"], standard)
    assert np.allclose((found["high"] - found["low"]) / 2, half, rtol=1e-6)
    assert plan.total_error == pytest.approx((table["std_error"] ** 2).sum())
    assert plan.rmse == pytest.approx(np.sqrt((table["std_error"] ** 2).mean()))


def test_it_is_better_than_planning_blindly(earlier):
    privacy = earlier.plan.privacy
    blind = rs.combine([earlier, rs.release(rs.plan(TABLE, privacy), COUNTS)])
    plan = rs.plan(TABLE, privacy, given=[earlier])
    assert plan.total_error <= (blind.ask(TABLE)["std_error"] ** 2).sum() * (1 + 1e-9)
    assert plan.lower_bound <= plan.total_error
    if privacy.norm == 2:
        assert plan.ratio < 1.002


def test_intervals_cover(earlier):
    plan = rs.plan(TABLE, earlier.plan.privacy, given=[earlier])
    truth = COUNTS[:16, :2].ravel()
    covered = []
    for _ in range(60):
        first = rs.release(earlier.plan, COUNTS)
        table = rs.combine([first, rs.release(plan, COUNTS)]).ask(TABLE)
        covered.append(((table["low"] <= truth) & (truth <= table["high"])).mean())
    assert 0.935 <= np.mean(covered) <= 0.985


def test_at_tiny_noise_the_counts_are_pandas():
    strong = rs.ZCDP(1e6)
    first = rs.release(rs.plan(rs.workload.marginal(DOMAIN, "sex"), strong), COUNTS.sum(axis=0))
    assert first.plan.domain.names == ("sex",)
    first = rs.release(rs.plan(RANGES, strong), COUNTS)
    second = rs.release(rs.plan(TABLE, strong, given=[first]), COUNTS)
    answers = rs.combine([first, second]).ask(TABLE)["answer"]
    assert np.allclose(answers, COUNTS[:16, :2].ravel(), atol=0.1)


def test_combined_releases_are_evidence_too(earlier):
    again = rs.release(rs.plan(TABLE, earlier.plan.privacy, given=[earlier]), COUNTS)
    both = rs.combine([earlier, again])
    plan = rs.plan(TABLE, earlier.plan.privacy, given=[both])
    assert plan.total_error < rs.plan(TABLE, earlier.plan.privacy, given=[earlier]).total_error


def test_saved_and_read_again(earlier, tmp_path):
    plan = rs.plan(TABLE, earlier.plan.privacy, given=[earlier])
    plan.save(tmp_path / "a.plan")
    again = rs.Plan.load(tmp_path / "a.plan")
    assert again.total_error == plan.total_error
    assert again.ratio == plan.ratio
    release = rs.release(again, COUNTS)
    release.save(tmp_path / "a.release")
    assert rs.Release.load(tmp_path / "a.release").plan.total_error == plan.total_error
    assert "earlier releases" in str(plan)


def test_such_a_release_does_not_answer_alone(earlier):
    release = rs.release(rs.plan(TABLE, earlier.plan.privacy, given=[earlier]), COUNTS)
    for ask in (release.answers, lambda: release.ask("sex = 'F'"), lambda: next(release.stream())):
        with pytest.raises(UnsupportedWorkload, match=r"rs\.combine\(\[\*earlier, release\]\)"):
            ask()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "at least one release"),
        (["a.release"], "expected given= to be a list of releases, got a str"),
        ("a.release", "expected given= to be a list of releases, got str"),
        (7, "expected given= to be a list of releases, got int"),
    ],
)
def test_what_is_no_evidence(given, message):
    with pytest.raises(InvalidInput, match=message):
        rs.plan(TABLE, rs.ZCDP(0.1), given=given)


@pytest.mark.parametrize("options", [{"objective": "max"}, {"strategy": np.eye(TABLE.domain.size)}])
def test_what_is_not_planned_beside_evidence_is_refused(earlier, options):
    """Rather than a plan for something else, or without the evidence."""
    with pytest.raises(InvalidInput, match="expected given= without strategy= and with objective="):
        rs.plan(TABLE, rs.ZCDP(0.1), given=[earlier], **options)


def test_evidence_about_other_attributes_is_refused():
    only_sex = rs.release(rs.plan(rs.workload.marginal(DOMAIN, "sex"), rs.ZCDP(0.1)), COUNTS.sum(axis=0))
    with pytest.raises(InvalidInput, match="attribute 'age' was not measured as declared here"):
        rs.plan(TABLE, rs.ZCDP(0.1), given=[only_sex])
    with pytest.raises(InvalidInput, match="the same attributes"):
        rs.plan(
            rs.workload.marginal(DOMAIN, "sex"),
            rs.ZCDP(0.1),
            given=[only_sex, rs.release(rs.plan(RANGES, rs.ZCDP(0.1)), COUNTS)],
        )
