"""With so much budget that the noise is almost never anything but zero, every figure is still a figure."""

import numpy as np
import pytest

import rowspace as rs
from rowspace.exceptions import InvalidInput

DOMAIN = rs.Domain(
    age=rs.Numeric(0, 8, bins=8, outside="drop"), sex=rs.Categorical(["F", "M"], outside="drop")
)
COUNTS = np.arange(16).reshape(8, 2)


@pytest.fixture(params=[50.0, 1e4], ids=str)
def release(request):
    plan = rs.plan(rs.workload.marginals(DOMAIN, up_to=2), rs.PureDP(request.param), effort="fast")
    return rs.release(plan, COUNTS)


def test_answers_are_the_truth_and_so_are_the_intervals(release):
    truth = release.plan.workload.operator() @ COUNTS.ravel()
    for level in (0.5, 0.95, 0.9999):
        answers = release.answers(level)
        assert (answers["low"] <= truth).all()
        assert (truth <= answers["high"]).all()
        assert (answers["high"] - answers["low"]).max() < 1e-9


def test_derived_answers(release):
    assert release.difference("age < 3", "age < 3").high == 0
    assert release.share("age < 8").low == release.share("age < 8").high == 1
    median = release.median("age")
    assert median.low <= median.value <= median.high
    assert median.std_error is None
    assert release.table("age", "sex").high.loc["total", "total"] == pytest.approx(COUNTS.sum(), abs=1e-8)


def test_consistent_and_combined(release):
    assert (release.consistent(integral=True).ask("age < 4")["answer"] == COUNTS[:4].sum()).all()
    other = rs.release(rs.plan(rs.workload.identity(DOMAIN), rs.ZCDP(1e4), effort="fast"), COUNTS)
    answers = release.combine(other).answers()
    truth = release.combine(other).plan.workload.operator() @ COUNTS.ravel()
    assert (answers["low"] <= truth).all()
    assert (truth <= answers["high"]).all()


def test_the_ratio_of_a_noisy_count_to_itself():
    plan = rs.plan(rs.workload.identity(DOMAIN), rs.PureDP(1.0), effort="fast")
    found = rs.release(plan, 0 * COUNTS + 2).ratio("age < 8", "age < 8")
    assert found.low == found.value == found.high == 1


def test_releases_that_coincide_are_combined_and_said_to():
    """Noise that is nearly always zero is the same twice: that does not make two releases one."""
    plan = rs.plan(rs.workload.identity(DOMAIN), rs.PureDP(1000.0))
    one, other = rs.release(plan, COUNTS), rs.release(plan, COUNTS)
    np.testing.assert_array_equal(one.noisy_answers, other.noisy_answers)
    both = one.combine(other)
    np.testing.assert_allclose(both.answers()["answer"], COUNTS.ravel(), atol=1e-9)
    assert "the same answers" in both.statement
    assert "the same answers" in both.answers().attrs["statement"]
    with pytest.raises(InvalidInput, match="with itself"):
        one.combine(one)


@pytest.mark.parametrize("privacy", [rs.PureDP(1.0), rs.PureDP(3.0), rs.ZCDP(0.5)], ids=str)
def test_where_noise_tells_releases_apart_equal_ones_are_one(privacy):
    plan = rs.plan(rs.workload.identity(DOMAIN), privacy)
    one = rs.release(plan, COUNTS)
    with pytest.raises(InvalidInput, match="with itself"):
        one.combine(rs.Release(plan, one.noisy_answers))
    assert "the same answers" not in one.combine(rs.release(plan, COUNTS)).statement
