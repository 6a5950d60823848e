"""Plans of known types that were tampered with: what is set on them changes neither question, noise nor charge."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

import rowspace as rs
from rowspace import operators as op
from rowspace.exceptions import InvalidInput
from rowspace.ledger import Ledger
from rowspace.measure import measure
from rowspace.noise import InsecureSeededRandom
from rowspace.operators import Operator
from rowspace.planning.known import is_known_operator

pytestmark = pytest.mark.plans_anew  # what is changed here is no other test's plan
FOUR = rs.Domain(age=rs.Numeric(0, 4, bins=4))
CUBE = rs.Domain({name: rs.Categorical(["a", "b", "c"], outside="drop") for name in "xyz"})
PLANS = {
    "places beside a strategy": lambda: rs.plan(rs.workload.ranges(FOUR, "age"), rs.PureDP(1.0)),
    "tables": lambda: rs.plan(rs.workload.marginals(CUBE, up_to=2), rs.ZCDP(0.5)),
    "a matrix": lambda: rs.plan(
        rs.workload.identity(FOUR), rs.PureDP(1.0), strategy=np.vstack([np.eye(4), np.ones((1, 4))])
    ),
    "products": lambda: rs.plan(
        rs.workload.marginals(CUBE, up_to=2) + rs.workload.total(CUBE), rs.ApproxDP(1.0, 1e-6)
    ),
}


class Hidden(Operator):
    """Asks a million times as much as it says."""

    shape = (5, 5)
    integral = True

    def _apply(self, x):
        return 10**6 * x

    _adjoint = _apply

    def _integer_norm(self, p):
        return 1

    def fields(self):
        return {}


class Evil(np.float64):
    """A number that could be another each time it is asked."""


def counts(plan):
    return np.arange(plan.domain.size) % 7


def released(plan, **more):
    return rs.release(plan, counts(plan), random=InsecureSeededRandom(5), **more)


def tampered_methods(plan):
    strategy = plan.strategy
    object.__setattr__(strategy, "divided", lambda x, bits: (x * 10**6, x * 0))
    object.__setattr__(strategy, "integer_norm", lambda p: 1)
    object.__setattr__(strategy, "largest_entry", lambda: 1.0)
    object.__setattr__(plan, "encode", lambda: ({}, {}))


def tampered_arrays(plan):
    """Everything that was remembered, to the last array that can be written to."""
    released(plan).answers()  # to have it remembered
    plan.strategy @ np.ones(plan.domain.size)
    plan.rmse  # noqa: B018
    seen, wiped = set(), 0
    stack = [plan]
    while stack:
        value = stack.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, np.ndarray):
            if value.flags.writeable:
                value[...] = 0
                wiped += 1
        elif isinstance(value, list | tuple):
            stack.extend(value)
        elif isinstance(value, dict):
            stack.extend(value.values())
        elif hasattr(value, "__dict__") and not isinstance(value, type):
            stack.extend(vars(value).values())
    return wiped


@pytest.mark.parametrize("tamper", [tampered_methods, tampered_arrays])
@pytest.mark.parametrize("made", PLANS.values(), ids=PLANS)
def test_what_was_tampered_with_changes_nothing(made, tamper, tmp_path):
    """Seen before: nearly exact counts, charged as ε = 1."""
    expected = released(made()).noisy_answers
    plan = made()
    tamper(plan)
    np.testing.assert_array_equal(released(plan).noisy_answers, expected)
    ledger = Ledger(tmp_path / "budget.db")
    ledger.create("people", plan.privacy)
    rs.release(plan, counts(plan), ledger=ledger)
    assert ledger.history()[0].cost == ledger.budget().used == ledger.budget().filter.cost_of(made())


def test_a_plan_that_is_changed_while_it_is_released_is_charged_as_it_was(tmp_path):
    """By whoever listens to progress: seen before, ρ = 0.5 released and charged as 0.000001."""
    plan, cheap = PLANS["tables"](), rs.plan(rs.workload.marginals(CUBE, up_to=2), rs.ZCDP(1e-6))

    def change(_):
        for name in ("privacy", "noise", "strategy"):
            object.__setattr__(plan, name, getattr(cheap, name))

    ledger = Ledger(tmp_path / "budget.db")
    ledger.create("people", rs.ZCDP(1.0))
    rs.release(plan, counts(plan), ledger=ledger, progress=change)
    assert plan.privacy == cheap.privacy
    assert ledger.history()[0].cost == ledger.budget().filter.cost_of(PLANS["tables"]())


def test_an_array_that_was_remembered_is_really_written_to():
    """The test above would show nothing if there were none."""
    plan = PLANS["places beside a strategy"]()
    assert isinstance(plan.strategy, op.Extended)
    assert tampered_arrays(plan) > 0


def test_a_hidden_part_is_refused(tmp_path):
    """An object may carry a `fields` of its own."""
    plan = rs.plan(rs.workload.identity(FOUR), rs.PureDP(1.0))
    strategy = op.Scaled(1.0, Hidden())
    object.__setattr__(strategy, "fields", lambda: {"factor": 1.0, "of": op.Identity(5)})
    ledger = Ledger(tmp_path / "budget.db")
    ledger.create("people", rs.PureDP(3.0))
    handmade = replace(plan, strategy=strategy)
    for attempt in (
        lambda: released(handmade),
        lambda: ledger.check(handmade),
        lambda: ledger.charge(handmade, b""),
        lambda: measure(strategy, plan.noise, np.ones(5, np.int64)),
    ):
        with pytest.raises(InvalidInput, match="own operators"):
            attempt()


@pytest.mark.parametrize(
    "number", [Evil(2.0), type("Int", (int,), {})(2), type("F", (float,), {})(2.0)], ids=type
)
def test_numbers_of_own_types_are_refused(number):
    strategy = op.Scaled(1.0, op.Identity(5))
    object.__setattr__(strategy, "factor", number)
    assert not is_known_operator(strategy)
    plan = rs.plan(rs.workload.identity(FOUR), rs.PureDP(1.0))
    with pytest.raises(InvalidInput, match="own operators"):
        released(replace(plan, strategy=strategy))


def test_arrays_that_can_be_written_to_are_refused():
    strategy = op.Dense(np.eye(5))
    assert is_known_operator(strategy)
    object.__setattr__(strategy, "array", np.eye(5))
    assert not is_known_operator(strategy)


def test_an_array_that_changes_after_the_check_is_not_used():
    """A view that cannot be written to, of an array that can."""
    matrix = np.eye(4, dtype=np.int64)
    shown = matrix.view()
    shown.setflags(write=False)
    strategy = op.Dense(np.eye(4, dtype=np.int64))
    object.__setattr__(strategy, "array", shown)
    domain = rs.Domain(age=rs.Numeric(0, 4, bins=4, outside="drop"))
    plan = rs.plan(rs.workload.identity(domain), rs.PureDP(1.0), strategy=np.eye(4, dtype=np.int64))
    plan = replace(plan, strategy=strategy, noise=rs.PureDP(1.0).noise(1))
    first = released(plan).noisy_answers
    matrix *= 10**6
    with pytest.raises(InvalidInput, match="expected the noise"):
        released(plan)
    assert max(first) < 10**5


def test_measuring_alone_uses_a_copy():
    strategy, noise = op.Identity(4), rs.PureDP(1.0).noise(1)
    x = np.arange(4)
    expected = measure(strategy, noise, x, InsecureSeededRandom(1)).answers
    object.__setattr__(strategy, "divided", lambda x, bits: (x * 10**6, x * 0))
    np.testing.assert_array_equal(measure(strategy, noise, x, InsecureSeededRandom(1)).answers, expected)


def test_what_was_checked_is_never_handed_out():
    """Else it could be tampered with before the next release, which takes it for checked."""
    from rowspace.planning import known

    plan = PLANS["tables"]()
    made = released(plan)
    kept = known._last[0]
    parts = [kept, kept.strategy, kept.noise, kept.workload, kept.privacy, kept.domain]
    handed = [made.plan, *vars(made.plan).values(), *vars(made).values()]
    assert not any(one is other for one, other in itertools.product(parts, handed))
