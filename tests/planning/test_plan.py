"""plan(): what it promises, with the error of the very integers it will ask."""

import numpy as np
import pytest
from scipy import linalg

import rowspace as rs
from rowspace import error, strategy, tables
from rowspace import operators as op
from rowspace.exceptions import IntegerOverflow, InvalidInput, TooLarge
from rowspace.privacy import DiscreteLaplace, RoundedGaussian, integer_norm
from rowspace.strategy import MAX_RECORDS, check_overflow, to_integers

DOMAIN = rs.Domain(
    age=rs.Numeric(0, 30, bins=30), sex=rs.Categorical(["F", "M"]), region=rs.Categorical(list("abcd"))
)
PRIVACIES = [
    rs.PureDP(1.0),
    rs.ZCDP(0.5),
    rs.ApproxDP(1.0, 1e-6),
    rs.PureDP(1.0, "replace-one"),
    rs.ZCDP(0.5, "replace-one"),
]


WORKLOADS = [
    rs.workload.ranges(DOMAIN, "age"),
    rs.workload.prefixes(DOMAIN, "age") + 3 * rs.workload.marginal(DOMAIN, "sex"),
    rs.workload.marginals(DOMAIN, up_to=2),
    rs.workload.predicates(DOMAIN, ["age < 10 and sex = 'F'", "age >= 20 or region in ('a', 'b')"]),
    rs.workload.total(DOMAIN),
]


@pytest.mark.parametrize("privacy", PRIVACIES, ids=str)
@pytest.mark.parametrize("w", WORKLOADS, ids=str)
def test_predicted_error_is_that_of_the_rounded_strategy(w, privacy):
    plan = rs.plan(w, privacy)
    A, W = plan.strategy.to_dense(), plan.counted.weighted_operator().to_dense()
    assert np.array_equal(A, np.rint(A))
    C = W @ linalg.pinv(A)
    assert np.allclose(C @ A, W, atol=1e-8)
    assert plan.total_error == pytest.approx(plan.noise.variance * np.sum(C**2), rel=1e-6)
    U = plan.counted.operator().to_dense() @ linalg.pinv(A)
    assert plan.rmse == pytest.approx(np.sqrt(plan.noise.variance * np.mean(np.sum(U**2, axis=1))), rel=1e-6)
    assert plan.max_error == pytest.approx(plan.noise.variance * np.sum(U**2, axis=1).max(), rel=1e-6)
    assert plan.ratio >= 1
    assert plan.lower_bound <= plan.total_error * (1 + 1e-6)  # the ratio itself is cut off at one
    if plan.lower_bound:
        assert plan.ratio == pytest.approx(max(1, plan.total_error / plan.lower_bound))
    else:  # replacing one record never changes the total: no positive bound exists
        assert plan.ratio == np.inf
    assert plan.noise == privacy.noise(max(1, integer_norm(plan.strategy, privacy)))
    assert str(plan)
    assert plan.to_dict()["queries"] == w.size


def test_untouched_attributes_cost_nothing():
    plan = rs.plan(rs.workload.ranges(DOMAIN, "age"), rs.PureDP(1.0))
    assert plan.domain.names == ("age",)
    assert plan.strategy.shape[1] == 30 + 1  # the last for missing values, beside the strategy of the others
    assert plan.strategy.of.shape[1] == 30


def test_a_plan_has_no_method_that_takes_data():
    public = {name for name in dir(rs.Plan) if not name.startswith("_")}
    assert not public & {"release", "measure", "fit", "run", "answer", "counts"}


def test_never_worse_than_identity():
    for w in WORKLOADS:
        plan = rs.plan(w, rs.PureDP(1.0))
        identity = error.total_error(
            op.Identity(plan.domain.size), plan.counted.weighted_operator(), rs.PureDP(1.0)
        )
        assert plan.total_error <= identity * 1.0001


def test_importance_weight_buys_accuracy():
    base = rs.workload.identity(DOMAIN.subset(["age"])) + rs.workload.total(DOMAIN.subset(["age"]))
    heavy = rs.workload.identity(DOMAIN.subset(["age"])) + 50 * rs.workload.total(DOMAIN.subset(["age"]))
    plain, weighted = (rs.plan(w, rs.PureDP(1.0)).query_errors()[-1] for w in (base, heavy))
    assert weighted < plain


def test_integers_and_their_noise():
    real = op.Hierarchy(16, 2, (0.3, 1.7, 0.11, 0.9, 1.0))
    integers, noise = to_integers(real, rs.PureDP(1.0))
    assert integers.integral
    assert isinstance(noise, DiscreteLaplace)
    assert noise.scale >= integers.integer_norm(1)
    ratio = error.total_error(integers, op.Ranges(16), rs.PureDP(1.0)) / error.total_error(
        real, op.Ranges(16), rs.PureDP(1.0)
    )
    assert ratio == pytest.approx(1, abs=1e-5)
    unit, fine = to_integers(op.Identity(4), rs.ApproxDP(1.0, 1e-6))
    assert isinstance(fine, RoundedGaussian)
    assert fine.sigma >= 2**10
    assert unit.integral
    assert to_integers(op.Identity(4), rs.PureDP(1.0))[0] == op.Identity(4)


def test_a_deficient_real_strategy_still_supports_its_workload_after_rounding():
    """Rounding would tilt a row space that is not spanned by integers; a faint identity keeps the workload in it."""
    rng = np.random.default_rng(4)
    mixed = op.Dense(rng.normal(size=(3, 2)) @ np.array([[1.0, 1, 0, 0, 0], [0, 0, 1, 1, 1]]))
    W = op.Dense([[1.0, 1, 0, 0, 0], [1, 1, 1, 1, 1]])
    for privacy in (rs.PureDP(1.0), rs.ZCDP(0.5)):
        integers, _ = to_integers(mixed, privacy)
        loss = error.total_error(integers, W, privacy) / error.total_error(mixed, W, privacy)
        assert loss == pytest.approx(1, abs=5e-3)


def test_overflow_is_found_from_the_strategy_alone():
    with pytest.raises(IntegerOverflow, match="64 bits"):
        check_overflow(op.Dense([[float(2**40)]]))
    assert MAX_RECORDS * 2**20 < 2**62


def test_products_of_real_factors_are_rounded_more_coarsely_instead():
    """Three factors share the bits; for weights at their optimum the loss is of second order."""
    W = op.Kronecker(*(op.Ranges(4),) * 3)
    factor = strategy.Hierarchical((2,)).optimize(op.Ranges(4), rs.PureDP(1.0)).strategy
    real = op.Kronecker(factor, factor, factor)
    integers, _ = to_integers(real, rs.PureDP(1.0))
    check_overflow(integers)
    assert error.total_error(integers, W, rs.PureDP(1.0)) <= 1.002 * error.total_error(
        real, W, rs.PureDP(1.0)
    )


def test_tables_that_rounding_leaves_without_rank_are_refused():
    """Three bits are all that ten attributes leave: contrasts of an attribute of many cells are then no contrasts."""
    small = op.Dense([[1.0, -1.0, 0.1], [1.0, 1.0, -1.9]])
    large = op.Dense(np.vander(np.linspace(0.1, 1, 30), 30, increasing=True)[:29])
    A = tables.Residuals((3,) * 9 + (30,), ((), tuple(range(10))), (1, 1), (small,) * 9 + (large,))
    with pytest.raises(IntegerOverflow, match="too few bits"):
        to_integers(A, rs.ZCDP(0.5))


def test_bad_input():
    w = rs.workload.ranges(DOMAIN, "age")
    with pytest.raises(InvalidInput, match="expected a workload"):
        rs.plan(op.Ranges(4), rs.PureDP(1.0))
    with pytest.raises(InvalidInput, match="privacy guarantee"):
        rs.plan(w, 1.0)
    with pytest.raises(InvalidInput, match="effort"):
        rs.plan(w, rs.PureDP(1.0), effort="heroic")
    with pytest.raises(InvalidInput, match="objective"):
        rs.plan(w, rs.PureDP(1.0), objective="median")
    wide = rs.Domain({f"a{i}": rs.Numeric(0, 10, bins=10) for i in range(12)})
    with pytest.raises(TooLarge, match="cells in all; the limit is"):
        rs.plan(rs.workload.identity(wide), rs.PureDP(1.0))


def test_worst_query_objective_prefers_the_smaller_maximum():
    w = rs.workload.prefixes(DOMAIN, "age")
    total, worst = (rs.plan(w, rs.PureDP(1.0), objective=o) for o in ("total", "max"))
    assert worst.max_error <= total.max_error * (1 + 1e-9)


def test_a_taxonomy_becomes_a_candidate():
    counties = [f"c{i}" for i in range(12)]
    states = {c: f"s{i % 4}" for i, c in enumerate(counties)}
    regions = {f"s{i}": "east" if i < 2 else "west" for i in range(4)}
    domain = rs.Domain(county=rs.Categorical(counties, levels={"state": states, "region": regions}))
    w = (
        rs.workload.marginal(domain, "region")
        + rs.workload.marginal(domain, "state")
        + rs.workload.marginal(domain, "county")
    )
    plan = rs.plan(4 * w + 20 * rs.workload.marginal(domain, "region"), rs.PureDP(1.0))
    assert "taxonomy" in {c.name for c in plan.candidates}


def test_a_taxonomy_beside_queries_that_tie_attributes_together():
    levels = {"side": {"x": "left", "y": "left", "z": "right"}}
    domain = rs.Domain(
        a=rs.Numeric(0, 5, bins=5),
        b=rs.Categorical(["x", "y", "z"], levels=levels),
        c=rs.Numeric(0, 4, bins=4),
    )
    w = rs.workload.predicates(domain, ["a < 3 and b = 'x'", "c >= 2 or b = 'y'"])
    for privacy in PRIVACIES:
        assert rs.plan(w, privacy, effort="fast").rmse > 0


def test_the_same_generator_state_gives_the_same_plan():
    w = rs.workload.ranges(DOMAIN, "age") + rs.workload.marginal(DOMAIN, "age", "sex")
    first, second = (rs.plan(w, rs.PureDP(1.0), rng=np.random.default_rng(3)) for _ in range(2))
    assert first.strategy == second.strategy
    assert first.total_error == second.total_error


@pytest.mark.plans_anew
@pytest.mark.parametrize("privacy", PRIVACIES, ids=str)
def test_the_same_study_gives_the_same_plan(privacy):
    w = rs.workload.ranges(DOMAIN, "age") + rs.workload.marginal(DOMAIN, "sex")
    first, second = (rs.plan(w, privacy, effort="fast") for _ in range(2))
    assert first is not second
    assert first.strategy == second.strategy
    assert (first.noise, first.total_error, first.lower_bound) == (
        second.noise,
        second.total_error,
        second.lower_bound,
    )


def test_totals_under_replace_one():
    """A record from outside the domain may stand in for one inside: the total needs the noise of one record."""
    domain = rs.Domain(sex=rs.Categorical(["F", "M"]))
    for privacy in (
        rs.ApproxDP(1.0, 1e-6, "replace-one"),
        rs.PureDP(1.0, "replace-one"),
        rs.ZCDP(0.5, "replace-one"),
    ):
        plan = rs.plan(rs.workload.total(domain), privacy)
        assert integer_norm(plan.strategy, privacy) == plan.strategy.largest_entry() ** privacy.norm
        assert plan.noise == privacy.noise(integer_norm(plan.strategy, privacy))
