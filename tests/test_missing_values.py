"""A record is in every answer whose own condition it meets: against pandas, at tiny noise, with dirty data."""

import numpy as np
import pandas as pd
import pytest

import rowspace as rs
from rowspace import operators as op
from rowspace import tables
from rowspace import workload as wl
from rowspace.exceptions import InvalidWorkload, UnsupportedWorkload
from rowspace.operators import Extended
from rowspace.tables import TableOperator

DOMAIN = rs.Domain(
    age=rs.Numeric(0, 12, bins=4, integer=True),
    sex=rs.Categorical(["F", "M"]),
    income=rs.Numeric(0, 100, bins=5, outside="clip"),
    region=rs.Categorical(
        ["north", "west", "east"], levels={"side": {"north": "up", "west": "down", "east": "down"}}
    ),
)
TINY = (rs.PureDP(2000.0), rs.ZCDP(1e6))


def people(rows=3000, seed=5):
    """Values that are missing, outside and unlisted, in every column."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(-2, 15, rows).astype(float),
            "sex": rng.choice(["F", "M", "X", " F"], rows, p=[0.4, 0.4, 0.1, 0.1]),
            "income": rng.normal(50, 40, rows),
            "region": rng.choice(["north", "west", "east", "South"], rows),
        }
    )
    for name in frame:
        frame.loc[rng.random(rows) < 0.1, name] = None
    return frame


FRAME = people()
AGE = FRAME.age.where(FRAME.age.between(0, 11.5)) // 3
SEX = FRAME.sex.where(FRAME.sex.isin(["F", "M"]))
INCOME = (FRAME.income.clip(0, 99) // 20).where(FRAME.income.notna())
REGION = FRAME.region.where(FRAME.region.isin(["north", "west", "east"]))
SIDE = REGION.map({"north": "up", "west": "down", "east": "down"})

WORKLOADS = {
    "one range family": wl.ranges(DOMAIN, "age"),
    "ranges and total": wl.ranges(DOMAIN, "age") + wl.total(DOMAIN),
    "one table": wl.marginal(DOMAIN, "age", "sex"),
    "tables of two": wl.marginals(DOMAIN, up_to=2),
    "ranges beside a table": wl.ranges(DOMAIN, "income") + 3 * wl.marginal(DOMAIN, "sex", "age"),
    "products": wl.product(DOMAIN, age="prefixes", income="ranges", sex="identity"),
    "levels": wl.marginal(DOMAIN, "side", "sex") + wl.marginal(DOMAIN, "region"),
    "conditions": wl.predicates(
        DOMAIN, ["age < 6 or sex = 'F'", "not (age < 6 and region = 'west')", "income >= 40 and sex != 'F'"]
    ),
}

#: Conditions and what pandas counts.
QUESTIONS = {
    "age < 6": AGE < 2,
    "not age < 6": AGE >= 2,
    "sex = 'F'": SEX == "F",
    "sex != 'F'": SEX == "M",
    "age >= 9 and sex = 'M'": (AGE == 3) & (SEX == "M"),
    "age < 6 or sex = 'F'": (AGE < 2) | (SEX == "F"),
    "not (age < 6 and sex = 'F')": (AGE >= 2) | (SEX == "M"),
    "income < 40": INCOME < 2,
    "region = 'west' or side = 'up'": (REGION == "west") | (SIDE == "up"),
}


@pytest.mark.parametrize("privacy", TINY, ids=str)
@pytest.mark.parametrize("name", WORKLOADS)
def test_answers_and_questions_are_what_pandas_counts(name, privacy):
    made = rs.release(rs.plan(WORKLOADS[name], privacy, effort="fast"), FRAME)
    known = set(made.plan.domain.names)
    total = made.ask(wl.total(DOMAIN)).answer[0]
    assert round(total) == len(FRAME)
    for text, truth in QUESTIONS.items():
        if any(word in text and word not in known for word in DOMAIN.names):
            continue
        if "side" in text and "region" not in known:
            continue
        try:
            answer = made.ask(text).answer[0]
        except UnsupportedWorkload:
            continue  # not every workload measures everything
        assert round(answer) == truth.sum(), text


def test_tables_count_each_value_once_and_the_missing_on_request():
    made = rs.release(rs.plan(wl.marginals(DOMAIN, up_to=2), rs.ZCDP(1e6)), FRAME)
    plain = made.ask(wl.marginal(DOMAIN, "age", "sex"))
    truth = pd.crosstab(AGE, SEX).to_numpy().ravel()
    assert np.array_equal(plain.answer.round(), truth)
    shown = made.ask(wl.marginal(DOMAIN, "age", "sex", missing=True))
    whole = pd.crosstab(AGE.fillna(99), SEX.fillna("zzz")).to_numpy().ravel()
    assert np.array_equal(shown.answer.round(), whole)
    assert shown.sex.tolist()[:3] == ["F", "M", "missing"]
    assert shown.answer.sum() == pytest.approx(len(FRAME), abs=0.5)
    levels = made.ask(wl.marginal(DOMAIN, "side", missing=True))
    assert dict(zip(levels.side, levels.answer.round(), strict=True)) == {
        "up": (SIDE == "up").sum(),
        "down": (SIDE == "down").sum(),
        "missing": SIDE.isna().sum(),
    }


def test_a_workload_may_ask_for_missing_values():
    queries = wl.marginal(DOMAIN, "sex", missing=True)
    assert queries.labels() == ["sex = F", "sex = M", "sex is missing"]
    made = rs.release(rs.plan(queries, rs.PureDP(2000.0)), FRAME)
    assert made.answers().answer.round().tolist() == [
        (SEX == "F").sum(),
        (SEX == "M").sum(),
        SEX.isna().sum(),
    ]
    again = type(made).from_bytes(made.to_bytes())
    assert again.answers().equals(made.answers())


@pytest.mark.parametrize("privacy", TINY, ids=str)
@pytest.mark.parametrize(
    ("queries", "truths"),
    [
        (wl.predicates(DOMAIN, ["sex is not missing"]), [SEX.notna()]),
        (wl.predicates(DOMAIN, ["sex is not missing", "sex = 'F'"]), [SEX.notna(), SEX == "F"]),
        (wl.predicates(DOMAIN, ["age is not missing and sex is missing"]), [AGE.notna() & SEX.isna()]),
        (wl.sql(DOMAIN, "SELECT COUNT(sex), COUNT(*) FROM people"), [SEX.notna(), FRAME.index >= 0]),
        (wl.sql(DOMAIN, "SELECT COUNT(age) FROM people WHERE sex IS NOT NULL"), [AGE.notna() & SEX.notna()]),
    ],
    ids=range(5),
)
def test_a_workload_may_ask_for_values_that_are_there(queries, truths, privacy):
    made = rs.release(rs.plan(queries, privacy, effort="fast"), FRAME)
    assert made.answers().answer.round().tolist() == [truth.sum() for truth in truths]


def test_an_unseen_place_costs_nothing():
    """The strategy for the known cells is what it is without a place, and so is every planned error."""
    drop = rs.Domain(age=rs.Numeric(0, 32, bins=32, outside="drop"))
    keep = rs.Domain(age=rs.Numeric(0, 32, bins=32))
    for privacy in (rs.PureDP(1.0), rs.ZCDP(0.5), rs.PureDP(1.0, "replace-one"), rs.ApproxDP(1.0, 1e-6)):
        without = rs.plan(wl.ranges(drop, "age"), privacy, rng=np.random.default_rng(1))
        plan = rs.plan(wl.ranges(keep, "age"), privacy, rng=np.random.default_rng(1))
        assert plan.total_error == pytest.approx(without.total_error, rel=1e-12)
        assert plan.lower_bound == pytest.approx(without.lower_bound, rel=1e-12)
        assert plan.noise == without.noise
        # Where records are replaced, the number of those in the known cells takes what the place would have got.
        assert isinstance(plan.strategy, Extended) == (
            privacy.neighbours is not rs.privacy.Neighbours.REPLACE_ONE
        )
        bars = plan.error_bars(0.95)
        assert np.allclose(bars[0], without.error_bars(0.95)[0], rtol=1e-12)
        loaded = rs.Plan.decode(*plan.encode())
        assert loaded.strategy == plan.strategy
        assert loaded.total_error == plan.total_error


@pytest.mark.parametrize("privacy", TINY, ids=str)
def test_the_price_of_a_seen_place_is_small(privacy):
    sizes = {"a": 10, "b": 10, "c": 10}
    plans = [
        rs.plan(
            wl.marginals(
                rs.Domain({k: rs.Categorical(range(n), outside=out) for k, n in sizes.items()}), up_to=2
            ),
            type(privacy)(0.5),
        )
        for out in ("missing", "drop")
    ]
    assert plans[0].total_error / plans[1].total_error < 1.15


def test_dropped_records_are_in_no_answer():
    domain = rs.Domain(
        age=rs.Numeric(0, 12, bins=4, outside="drop"), sex=rs.Categorical(["F", "M"], outside="drop")
    )
    made = rs.release(rs.plan(wl.marginals(domain, up_to=1), rs.PureDP(2000.0)), FRAME)
    inside = AGE.notna() & SEX.notna()
    assert round(made.ask(wl.total(domain)).answer[0]) == inside.sum()
    with pytest.raises(InvalidWorkload, match="no place for missing values"):
        wl.factors.Cells(domain.subset(["age"]), missing=True)


def test_counts_of_known_cells_will_do():
    plan = rs.plan(wl.marginals(DOMAIN, sets=[["age", "sex"], ["sex"]]), rs.PureDP(2000.0))
    assert plan.domain.shape == (5, 3)
    counts = np.arange(8).reshape(4, 2)
    for given in (counts, counts.ravel(), np.pad(counts, [(0, 1), (0, 1)])):
        made = rs.release(plan, given)
        assert made.ask("sex = 'F'").answer.round()[0] == counts[:, 0].sum()


def test_strategies_of_tables_keep_the_missing_too():
    wide = rs.Domain({f"a{i}": rs.Categorical(["x", "y"]) for i in range(20)})
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({name: rng.choice(["x", "y", "z", None], 500) for name in wide.names})
    for privacy in (rs.ZCDP(1e7), rs.PureDP(1e5)):
        made = rs.release(rs.plan(wl.marginals(wide, up_to=2), privacy), frame)
        assert isinstance(made.plan.strategy, TableOperator)
        assert round(made.ask(wl.total(wide)).answer[0]) == 500
        assert round(made.ask("a3 = 'x'").answer[0]) == (frame.a3 == "x").sum()
        both = (frame.a3 == "x") | (frame.a7 == "y")
        assert round(made.ask("a3 = 'x' or a7 = 'y'").answer[0]) == both.sum()


@pytest.mark.long
def test_a_place_that_was_not_counted_is_not_made_up():
    """Where cells beside the strategy would be too many, they are not measured, and nothing pretends they were."""
    flags = rs.Domain({f"a{i}": rs.Categorical([0, 1]) for i in range(14)})
    plan = rs.plan(wl.identity(flags), rs.PureDP(1.0), effort="fast")
    made = rs.release(plan, np.zeros(plan.domain.shape, dtype=int))
    if plan.domain.places:
        assert made.ask(wl.total(flags)).answer.size == 1
    else:
        with pytest.raises(UnsupportedWorkload, match="is missing"):
            made.ask(wl.total(flags))


@pytest.mark.parametrize("privacy", [rs.PureDP(1.0, "replace-one"), rs.ZCDP(0.5, "replace-one")], ids=str)
def test_replacing_a_record_by_one_that_is_missing_is_covered(privacy):
    """The noise covers every pair of columns of what is asked, places included: brute force."""
    for queries in (
        wl.ranges(DOMAIN, "age"),
        wl.marginal(DOMAIN, "age", "sex"),
        wl.prefixes(DOMAIN, "income"),
    ):
        plan = rs.plan(queries, privacy)
        columns = plan.strategy.integer_matrix().T.astype(float)
        p = privacy.norm
        worst = max((np.abs(a - b) ** p).sum() for a in columns for b in columns)
        worst = max(worst, (np.abs(columns) ** p).sum(axis=1).max())
        assert plan.noise.variance >= privacy.noise(int(worst)).variance


def test_a_strategy_of_ones_own_is_over_known_cells():
    queries = wl.ranges(DOMAIN, "age") + wl.marginal(DOMAIN, "age", "sex")
    for mine in (
        np.eye(8),
        op.Kronecker(op.Hierarchy(4), op.Identity(2)),
        tables.Marginals((4, 2), ((0, 1),), (1,)),
    ):
        plan = rs.plan(queries, rs.PureDP(2000.0), strategy=mine)
        answers = rs.release(plan, FRAME).answers()
        assert round(answers.answer[3]) == AGE.notna().sum()
