"""With so much budget that the noise is almost never anything but zero, every figure is still a figure."""

import numpy as np
import pytest

import rowspace as rs

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
    assert median.std_error >= 0
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
