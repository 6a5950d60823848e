"""Other budgets with the same strategy: right noise, right errors, nothing planned again."""

from __future__ import annotations

import numpy as np
import pytest

import rowspace as rs
from rowspace.exceptions import InvalidInput, RowspaceError
from rowspace.planning import recalibrated, whatif
from rowspace.privacy import integer_norm

DOMAIN = rs.Domain(age=rs.Numeric(0, 32, bins=32), sex=rs.Categorical(["F", "M"]))
WORKLOAD = rs.workload.ranges(DOMAIN, "age") + rs.workload.marginal(DOMAIN, "sex")


@pytest.mark.parametrize(
    ("privacy", "values"),
    [
        (rs.PureDP(1.0), [0.1, 1.0, 3.0]),
        (rs.ApproxDP(1.0, 1e-6), [0.1, 1.0, 8.0]),
        (rs.ZCDP(0.5), [0.01, 0.5, 2.0]),
    ],
)
def test_figures_are_those_of_the_recalibrated_plan(privacy, values):
    plan = rs.plan(WORKLOAD, privacy, effort="fast")
    for found, value in zip(whatif(plan, values), values, strict=True):
        other = recalibrated(
            plan, type(privacy)(value, *([1e-6] if isinstance(privacy, rs.ApproxDP) else []))
        )
        assert found.epsilon == value
        assert found.rmse == pytest.approx(other.rmse)
        for mine, theirs in zip(found.groups, other.group_errors(), strict=True):
            assert mine.group == theirs.group
            assert mine.rmse == pytest.approx(theirs.rmse)
            assert mine.largest_std_error == pytest.approx(theirs.largest_std_error)
        # The bound follows the least noise that any integers draw, the error the noise of this strategy's own.
        least = other.privacy.least_variance / privacy.least_variance
        assert other.lower_bound == pytest.approx(least * plan.lower_bound, rel=1e-12)
        assert other.ratio == pytest.approx(other.total_error / other.lower_bound, rel=1e-6)


@pytest.mark.parametrize("privacy", [rs.PureDP(0.3), rs.PureDP(7.0)])
def test_recalibrated_plans_are_as_private_as_they_say(privacy):
    plan = rs.plan(WORKLOAD, rs.PureDP(1.0), effort="fast")
    other = recalibrated(plan, privacy)
    assert other.privacy == privacy
    assert other.noise == privacy.noise(integer_norm(other.strategy, privacy))


def test_recalibrated_plans_are_saved_and_released(tmp_path):
    other = recalibrated(rs.plan(WORKLOAD, rs.ApproxDP(0.1, 1e-6), effort="fast"), rs.ApproxDP(9.0, 1e-6))
    other.save(tmp_path / "p.plan")
    assert rs.Plan.load(tmp_path / "p.plan").noise == other.noise
    answers = rs.release(other, np.full(64, 100)).answers()
    assert abs(answers["answer"].iloc[-1] - 3200) < 10 * answers["std_error"].iloc[-1] + 1


@pytest.mark.parametrize("values", [[0], [-1.0], ["much"], [float("nan")], "0.5", 3])
def test_bad_values(values):
    with pytest.raises(RowspaceError):
        whatif(rs.plan(WORKLOAD, rs.PureDP(1.0), effort="fast"), values)


def test_another_norm_is_another_strategy():
    with pytest.raises(InvalidInput, match="plan again"):
        recalibrated(rs.plan(WORKLOAD, rs.PureDP(1.0), effort="fast"), rs.ZCDP(0.5))
