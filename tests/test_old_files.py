"""Plans and releases of version 0.1 load and say what they said."""

import json
from pathlib import Path

import numpy as np
import pytest

import rowspace as rs

FOLDER = Path(__file__).parent / "fixtures" / "version_0_1"
FACTS = json.loads((FOLDER / "facts.json").read_text())


@pytest.mark.parametrize("name", FACTS)
def test_plans_and_releases_of_version_0_1(name):
    facts = FACTS[name]
    made = rs.Release.load(FOLDER / f"{name}.release")
    answers = made.answers().head(len(facts["answers"]))  # of some only the first are kept
    assert np.allclose(answers.answer, facts["answers"], rtol=1e-9)
    assert np.allclose(answers.std_error, facts["std_error"], rtol=1e-9)
    plan = rs.Plan.load(FOLDER / f"{name}.plan")
    assert plan.total_error == pytest.approx(facts["total"], rel=1e-9)
    assert list(plan.domain.names) == facts["names"]
    assert not plan.domain.places
    # What was outside was left out then, and is when the plan is released now.
    assert all(plan.domain[name].drops or plan.domain[name].other for name in plan.domain.names)


def test_bounds_of_version_0_1_are_made_true():
    """They were for continuous noise: at this budget plain counts, which are asked here, were below them."""
    domain = rs.Domain(age=rs.Numeric(0, 8, bins=8, outside="drop"))
    plan = rs.plan(rs.workload.identity(domain), rs.PureDP(8.0))
    body, arrays = plan.encode()
    assert rs.Plan.decode(body, arrays).lower_bound == plan.lower_bound
    before = {**body, "lower_bound": 8 * plan.privacy.unit_variance}
    del before["bounds"]
    assert before["lower_bound"] > plan.total_error
    assert rs.Plan.decode(before, arrays).lower_bound == pytest.approx(plan.total_error)
