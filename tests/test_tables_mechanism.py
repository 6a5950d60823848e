"""Plans, releases and answers without the cells: 10³⁰ of them, from a frame to error bars, in exact integers."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import rowspace as rs
from rowspace import operators as op
from rowspace import tables
from rowspace.exceptions import FileError, TooLarge, UnsupportedWorkload
from rowspace.measure import draw, measure
from rowspace.noise import InsecureSeededRandom
from rowspace.sources import count_marginals
from rowspace.strategy import dropped_bits, record_limit, to_integers

NAMES = [f"a{i}" for i in range(30)]
HUGE = rs.Domain({name: rs.Numeric(0, 10, bins=10, outside="drop") for name in NAMES})
ROWS = 500
FRAME = pd.DataFrame(np.random.default_rng(3).integers(0, 10, (ROWS, 30)), columns=NAMES)
TRIPLES = rs.workload.marginals(HUGE, up_to=2) + rs.workload.marginal(HUGE, "a0", "a1", "a2")
MIXED = rs.workload.product(HUGE, a0="prefixes", a1="ranges") + rs.workload.marginals(HUGE, up_to=1)

WORKLOADS = {
    "marginals, Gaussian": (TRIPLES, rs.ZCDP(0.5)),
    "marginals, approximate": (TRIPLES, rs.ApproxDP(1.0, 1e-6)),
    "products, Gaussian": (MIXED, rs.ZCDP(0.5)),
    "marginals, Laplace": (rs.workload.marginals(HUGE, up_to=1), rs.PureDP(1.0)),
}


@pytest.fixture(scope="module", params=WORKLOADS)
def made(request):
    """A plan over 10³⁰ cells and a release of it."""
    workload, privacy = WORKLOADS[request.param]
    plan = rs.plan(workload, privacy, effort="fast")
    return plan, rs.release(plan, FRAME, random=InsecureSeededRandom(4))


def table(release, *names):
    """An asked marginal as an array."""
    asked = release.ask(rs.workload.marginal(HUGE, *names) if names else rs.workload.total(HUGE))
    return asked["answer"].to_numpy().reshape((10,) * len(names))


def test_a_plan_of_many_cells_is_kept(made, tmp_path):
    plan, release = made
    assert plan.domain.size == 10**30
    assert plan.ratio >= 1
    assert plan.rmse > 0
    plan.save(tmp_path / "p")
    loaded = rs.Plan.load(tmp_path / "p")
    assert loaded.strategy == plan.strategy
    assert loaded.noise == plan.noise
    assert loaded.total_error == plan.total_error
    release.save(tmp_path / "r")
    again = rs.Release.load(tmp_path / "r")
    pd.testing.assert_frame_equal(again.answers(), release.answers())


def test_answers_are_near_the_truth_as_the_error_bars_say(made):
    """Standardized errors of the workload: none beyond 8 (false alarm below 1e-9 under Laplace sums too)."""
    plan, release = made
    found = release.answers()
    sets = sorted(
        {tuple(sorted(plan.domain.position(n) for n in part.attributes)) for part in plan.workload.parts}
    )
    exact = count_marginals(FRAME, plan.domain, sets)
    truth = []
    for part in plan.workload.parts:
        own = tuple(plan.domain.position(name) for name in part.attributes)
        counts = exact.table(own)
        for axis, factor in enumerate(part.factors):
            counts = np.moveaxis(np.tensordot(factor.operator.to_dense(), counts, (1, axis)), 0, axis)
        truth.append(counts.ravel())
    errors = (found["answer"] - np.concatenate(truth)) / found["std_error"]
    assert np.abs(errors).max() < 8
    assert ((found["low"] < found["answer"]) & (found["answer"] < found["high"])).all()


def test_all_answers_agree(made):
    """Noisy tables summed up are the noisy tables of fewer attributes."""
    plan, release = made
    largest = max((part.attributes for part in plan.workload.parts), key=len)
    whole = table(release, *largest)
    for k in range(len(largest)):
        for kept in combinations(range(len(largest)), k):
            others = tuple(axis for axis in range(len(largest)) if axis not in kept)
            np.testing.assert_allclose(
                whole.sum(axis=others), table(release, *(largest[i] for i in kept)), atol=1e-6
            )


def test_only_what_was_measured_is_answered(made):
    plan, release = made
    with pytest.raises(UnsupportedWorkload, match="has not measured a3, a4, a5 finely enough"):
        release.ask(rs.workload.marginal(HUGE, "a3", "a4", "a5"))
    with pytest.raises(UnsupportedWorkload):
        plan.error_bars(0.9, rs.workload.marginal(HUGE, "a3", "a4", "a5"))
    with pytest.raises(TooLarge, match="some attributes"):
        _ = release.estimate


def test_streamed_answers_are_the_answers(made):
    _, release = made
    whole = release.answers()
    for rows in (1, 57, 10**6):
        parts = list(release.stream(rows))
        pd.testing.assert_frame_equal(pd.concat(parts, ignore_index=True), whole)


def test_group_errors_are_those_of_the_answers(made):
    plan, release = made
    found = release.answers()
    for group in plan.group_errors():
        errors = found.loc[found["group"] == group.group, "std_error"]
        assert len(errors) == group.queries
        assert group.rmse == pytest.approx(np.sqrt(np.mean(errors**2)))
        assert group.largest_std_error == pytest.approx(errors.max())


def wide_strategies():
    """Integer strategies of tables as planned, and one that drops bits; with counts that make answers large."""
    rng = np.random.default_rng(5)
    domain = rs.Domain({name: rs.Numeric(0, 3, bins=3, outside="drop") for name in "abc"})
    for privacy in (rs.ZCDP(0.5), rs.ApproxDP(1.0, 1e-6)):
        workload = rs.workload.product(domain, a="prefixes", b="ranges") + rs.workload.marginals(
            domain, up_to=2
        )
        yield to_integers(rs.strategy.Residual().propose(workload.products(), privacy), privacy)[0], privacy
    contrasts = op.Dense([[2**8 - 1, -3, 5], [7, 2**7, -11]])
    yield (
        tables.Residuals((3,) * 3, ((), (0, 1), (0, 1, 2)), (2.0**43, 2.0**20 + 1, 3.0), (contrasts,) * 3),
        rs.ZCDP(0.5),
    )
    yield tables.Marginals((3,) * 3, ((0, 1), (2,)), (2.0**44 + 1, 5.0)), rs.PureDP(1.0)
    real = tables.Residuals((3,) * 3, ((), (0, 1, 2)), (1e-6, 1.0), (op.Dense(rng.normal(size=(2, 3))),) * 3)
    yield to_integers(real, rs.ZCDP(0.5))[0], rs.ZCDP(0.5)


class Tables:
    """Counts of all cells, asked table by table."""

    def __init__(self, x):
        self.x = x

    def table(self, attributes):
        return self.x.sum(axis=tuple(i for i in range(self.x.ndim) if i not in attributes))


@pytest.mark.parametrize("number", range(5))
def test_answers_minus_the_same_noise_are_exact(number):
    """(A·x + noise)/2^bits rounded, in Python integers, with answers beyond 64 bits; from cells or tables alike."""
    A, privacy = list(wide_strategies())[number]
    noise = privacy.noise(A.integer_norm(privacy.norm))
    bits = dropped_bits(A)
    x = np.zeros(A.sizes, dtype=np.int64)
    x.flat[0] = record_limit(A) - 10
    x.flat[1:6] = [1, 2, 3, 0, 4]
    columns = []
    for unit in np.eye(A.shape[1], dtype=np.int64):
        high, low = A.divided(unit, bits)
        columns.append([int(q) * 2**bits + int(r) for q, r in zip(high, low, strict=True)])
    dense = np.array(columns, dtype=object).T
    assert np.array_equal(dense.astype(float), A.to_dense())
    exact = [sum(int(a) * int(v) for a, v in zip(row, x.ravel(), strict=True)) for row in dense]
    stacks = [block for stack in A.layout.stacks for block in stack.blocks()]
    random = InsecureSeededRandom(6)
    drawn = np.zeros(A.shape[0], dtype=np.int64)
    for block in stacks:
        where = block.where
        drawn[where] = draw(noise, len(drawn[where]), random)
    expected = [(y + int(z) + 2**bits // 2) // 2**bits for y, z in zip(exact, drawn, strict=True)]
    assert measure(A, noise, Tables(x), InsecureSeededRandom(6)).answers.tolist() == expected
    whole = draw(noise, A.shape[0], InsecureSeededRandom(6)).tolist()
    expected = [(y + z + 2**bits // 2) // 2**bits for y, z in zip(exact, whole, strict=True)]
    assert measure(A, noise, x, InsecureSeededRandom(6)).answers.tolist() == expected


def test_some_of_them_drop_bits():
    dropped = [dropped_bits(A) for A, _ in wide_strategies()]
    assert max(dropped) > 20
    assert any(max(abs(A.largest_entry()), 1) * record_limit(A) > 2.0**64 for A, _ in wide_strategies())


SMALL = rs.Domain(
    a=rs.Numeric(0, 2, bins=2, integer=True, outside="drop"),
    b=rs.Numeric(0, 3, bins=3, integer=True, outside="drop"),
    c=rs.Numeric(0, 4, bins=4, integer=True, outside="drop"),
)


@pytest.mark.parametrize("privacy", [rs.ZCDP(0.5), rs.ApproxDP(1.0, 1e-6), rs.PureDP(1.0)], ids=str)
@pytest.mark.parametrize("family", ["marginals", "products"])
def test_variances_per_order_are_the_predicted_ones(family, privacy):
    """600 releases of ≤ 2-way tables: the mean squared error of each order, divided by the prediction, is one.

    The standard error of each ratio is taken from the spread between releases; 6 of them: false alarm below 1e-7
    over all cases (a mean over 600 releases is normal to that accuracy at these excesses).
    """
    queries = rs.workload.marginals(SMALL, up_to=2)
    if family == "products":
        queries = queries + rs.workload.product(SMALL, b="prefixes", c="ranges")
    strategy = rs.strategy.Marginals if privacy.norm == 1 else rs.strategy.Residual
    A, noise = to_integers(strategy().optimize(queries.products(), privacy).strategy, privacy)
    plan = rs.Plan(queries, privacy, A, noise, 0.0, ())
    x = np.random.default_rng(9).integers(0, 50, SMALL.shape)
    truth = queries.operator() @ x.ravel()
    orders = np.concatenate([np.full(part.size, len(part.attributes)) for part in queries.parts])
    predicted = plan.query_errors()
    random = InsecureSeededRandom(10)
    runs = []
    for _ in range(600):
        answers = rs.Release(plan, measure(A, noise, x, random).answers)._answer(queries)
        squared = (answers - truth) ** 2
        runs.append([squared[orders == k].sum() / predicted[orders == k].sum() for k in range(3)])
    means, spread = np.mean(runs, axis=0), np.std(runs, axis=0) / np.sqrt(len(runs))
    assert (np.abs(means - 1) < 6 * spread).all()


def test_intervals_of_other_queries_under_laplace_tables_cover():
    """1,000 releases of tables measured as marginals, ranges and predicates asked: at least the level, less six
    standard deviations of a binomial (false alarm below 1e-6 over all queries)."""
    privacy, level, runs = rs.PureDP(1.0), 0.9, 1000
    asked = rs.workload.marginals(SMALL, up_to=2)
    A, noise = to_integers(rs.strategy.Marginals().optimize(asked.products(), privacy).strategy, privacy)
    plan = rs.Plan(asked, privacy, A, noise, 0.0, ())
    queries = (
        rs.workload.ranges(SMALL, "c")
        + rs.workload.product(SMALL, b="prefixes", c="ranges")
        + rs.workload.predicates(SMALL, ["a < 1 and c >= 2", "b < 2 or c = 1"])
    )
    x = np.random.default_rng(12).integers(0, 50, SMALL.shape)
    truth = queries.operator() @ x.ravel()
    _, half_width = plan.error_bars(level, queries)
    random = InsecureSeededRandom(13)
    hits = np.zeros(len(truth))
    for _ in range(runs):
        answers = rs.Release(plan, measure(A, noise, x, random).answers)._answer(queries)
        hits += np.abs(answers - truth) <= half_width + 1e-9
    assert hits.min() >= stats.binom.ppf(1e-6 / len(truth), runs, level) - 0.002 * runs


def test_the_worst_cell_can_be_the_objective():
    queries = rs.workload.marginals(HUGE, up_to=2)
    total, worst = (rs.plan(queries, rs.ZCDP(0.5), objective=o) for o in ("total", "max"))
    largest = [max(group.largest_std_error for group in plan.group_errors()) for plan in (total, worst)]
    assert largest[1] < largest[0] * 0.999
    assert worst.total_error > total.total_error


def test_a_strategy_for_other_sizes_is_refused(tmp_path):
    """A saved strategy whose sizes are those of the domain in another order has another sensitivity."""
    domain = rs.Domain(a=rs.Numeric(0, 4, bins=4, outside="drop"), b=rs.Numeric(0, 2, bins=2, outside="drop"))
    plan = rs.plan(rs.workload.marginals(domain, up_to=2), rs.ZCDP(0.5))
    A = tables.Residuals((2, 4), ((), (0, 1)), (1.0, 1.0))
    forged = rs.Plan(plan.workload, plan.privacy, A, plan.privacy.noise(A.integer_norm(2)), 0.0, ())
    forged.save(tmp_path / "p")
    with pytest.raises(FileError, match="attributes are not those"):
        rs.Plan.load(tmp_path / "p")
    with pytest.raises(rs.RowspaceError):
        rs.release(forged, np.ones((4, 2), dtype=int))


def test_the_total_of_a_large_domain_under_rounded_noise():
    """A multiple of a strategy of tables is one: nothing over the cells is ever needed."""
    plan = rs.plan(rs.workload.total(HUGE) + rs.workload.marginal(HUGE, "a0"), rs.ApproxDP(1.0, 1e-6))
    assert isinstance(plan.strategy, tables.TableOperator)
    A, noise = to_integers(tables.Residuals((10,) * 30, ((),), (1.0,)), rs.ApproxDP(1.0, 1e-6))
    assert isinstance(A, tables.TableOperator)
    assert noise == rs.ApproxDP(1.0, 1e-6).noise(A.integer_norm(2))
    assert A.integer_norm(2) > 1


def test_parts_of_next_to_no_importance_are_planned_and_answered():
    queries = 1e-30 * rs.workload.marginals(HUGE, up_to=1) + rs.workload.marginal(HUGE, "a0", "a1")
    plan = rs.plan(queries, rs.ZCDP(0.5))
    assert len(rs.release(plan, FRAME).answers()) == queries.size


def test_products_of_six_attributes_fit_integers():
    """Contrasts of six attributes multiply: they are rounded to what 64 bits leave room for."""
    wide = rs.Domain({name: rs.Numeric(0, 4, bins=4, outside="drop") for name in NAMES})
    six = rs.workload.product(wide, **dict.fromkeys(NAMES[:6], "prefixes"))
    queries = six + rs.workload.marginals(wide, up_to=1)
    plan = rs.plan(queries, rs.ZCDP(0.5))
    assert record_limit(plan.strategy) >= 2**30
    assert plan.total_error <= 1.05 * plan.candidates[0].total_error


def test_cells_can_be_had_where_they_fit():
    """An estimate of every cell, consistent with all answers, from tables that do not determine every cell."""
    domain = rs.Domain({name: rs.Numeric(0, 10, bins=10, outside="drop") for name in "abcd"})
    w = rs.workload
    queries = w.product(domain, a="prefixes", b="ranges") + w.product(domain, c="prefixes", d="ranges")
    plan = rs.plan(queries, rs.ZCDP(0.5), effort="fast")
    assert isinstance(plan.strategy, tables.Residuals)
    release = rs.release(plan, np.ones(domain.shape, dtype=int))
    answers = queries.operator() @ release.estimate
    np.testing.assert_allclose(answers, release.answers()["answer"], atol=1e-6)


ONE_WAY = {
    "marginals": (rs.PureDP(1.0), tables.Marginals((2, 3, 2), ((0,), (1,)), (1, 1))),
    "residuals": (rs.ZCDP(0.5), tables.Residuals((2, 3, 2), ((), (0,), (1,)), (1, 1, 1))),
}


@pytest.mark.parametrize("kind", ONE_WAY)
def test_what_a_query_says_nothing_about_need_not_be_measured(kind):
    """A condition that always holds, a level of one label, a difference of counts from two tables: all are answered."""
    privacy, tables = ONE_WAY[kind]
    county = rs.Categorical(["p", "q"], levels={"country": {"p": "all", "q": "all"}}, outside="drop")
    domain = rs.Domain(
        a=rs.Categorical(["x", "y"], outside="drop"),
        b=rs.Numeric(0, 3, bins=3, outside="drop"),
        county=county,
    )
    asked = rs.workload.marginals(domain, sets=[["a"], ["b"], ["a", "country"]])
    plan = rs.plan(asked, privacy, strategy=tables)
    made = rs.release(plan, np.arange(12) * 10)
    assert len(made.answers()) == 7
    for text in ("a = 'x' and b >= 0", "a = 'x' and county in ('p', 'q')"):
        both = [made.ask(each)[["answer", "std_error"]].to_numpy() for each in (text, "a = 'x'")]
        np.testing.assert_allclose(*both, rtol=1e-12)
    apart = made.difference("a = 'x'", "b < 2")
    answers = made.ask(["a = 'x'", "b < 2"])["answer"]
    assert apart.value == pytest.approx(answers[0] - answers[1])
    together = made.combine(rs.release(plan, np.arange(12) * 10))
    assert together.difference("a = 'x'", "b < 2").std_error < apart.std_error
    for text in ("a = 'x' and b < 1", "county = 'p'"):
        with pytest.raises(UnsupportedWorkload):
            made.ask(text)
