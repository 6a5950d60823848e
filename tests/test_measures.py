"""Sums and means: through every door the figures of pandas, and noise that covers a record with any value."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rowspace as rs
from rowspace.domain import Domain, Measure
from rowspace.exceptions import FileError, InvalidDomain, InvalidInput, InvalidWorkload, UnsupportedWorkload
from rowspace.measure import measure
from rowspace.mechanism import counts_for
from rowspace.privacy import integer_norm
from rowspace.releases import means
from rowspace.releases.export import export
from rowspace.sources import count_cells, count_marginals
from rowspace.strategy import Strategy, asked_of_parts

PEOPLE = rs.Domain(
    region=rs.Categorical(["North", "South", "East"]),
    age=rs.Numeric(0, 40, bins=4),
    sex=rs.Categorical(["F", "M"]),
    measures=[rs.Measure("income", -10, 30, step=2.5), rs.Measure("hours", 0, 8, step=1)],
)


def people(n=300, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "hours": rng.integers(-3, 12, n).astype(float),
            "sex": rng.choice(np.array(["F", "M", None], dtype=object), n),
            "region": rng.choice(["North", "South", "West"], n),
            "income": rng.normal(10, 20, n),
            "age": rng.integers(-5, 45, n),
        }
    )
    frame.loc[rng.random(n) < 0.1, "income"] = np.nan
    frame.loc[rng.random(n) < 0.05, "income"] = np.inf
    frame.loc[rng.random(n) < 0.1, "hours"] = np.nan
    return frame


def as_summed(frame):
    """What is added up: values clipped and rounded, what is missing left out."""
    seen = frame.copy()
    income = seen["income"].where(np.isfinite(seen["income"]))
    seen["income"] = np.floor((income.clip(-10, 30) + 10) / 2.5 + 0.5) * 2.5 - 10
    seen["hours"] = seen["hours"].clip(0, 8)
    seen["sex"] = seen["sex"].where(seen["sex"].notna())
    seen["region"] = seen["region"].where(seen["region"].isin(["North", "South", "East"]))
    seen["decade"] = (seen["age"] // 10).where(seen["age"].between(0, 39))
    return seen


def expected(frame, measure, by, how):
    grouped = as_summed(frame).groupby(by)[measure]
    return getattr(grouped, how)().reindex(
        pd.MultiIndex.from_product(
            [{"region": ["North", "South", "East"], "sex": ["F", "M"]}[name] for name in by], names=by
        ),
        fill_value=0 if how != "mean" else np.nan,
    )


def releases(plan, frame, number):
    """Many of one table, which is counted once."""
    counts = counts_for(plan, frame, None)
    for _ in range(number):
        noisy = measure(plan.strategy, plan.noise, counts, parts=plan.domain.parts)
        yield rs.Release(plan, noisy.answers)


PRIVACIES = [rs.PureDP(1e7), rs.ZCDP(1e12), rs.ApproxDP(1e6, 1e-9)]


@pytest.mark.parametrize("privacy", PRIVACIES, ids=lambda p: type(p).__name__)
@pytest.mark.parametrize("cut", [slice(None), slice(None, None, -1)])
def test_sums_and_means_are_those_of_pandas(privacy, cut):
    frame = people()[cut].reset_index(drop=True)
    w = (
        rs.workload.mean(PEOPLE, "income", by=("sex", "region"))
        + rs.workload.sum(PEOPLE, "hours", by=["region", "sex"])
        + 3 * rs.workload.sum(PEOPLE, "income", age="ranges")
        + rs.workload.marginal(PEOPLE, "region", "sex")
        + rs.workload.total(PEOPLE)
    )
    release = rs.release(rs.plan(w, privacy), frame)
    answers = release.answers().set_index("group")["answer"]
    for summed, group, how in (
        ("income", "sum of income by sex × region", "sum"),
        ("income", "records with income by sex × region", "count"),
        ("income", "mean of income by sex × region", "mean"),
        ("hours", "sum of hours by region × sex", "sum"),
    ):
        truth = expected(frame, summed, ["region", "sex"], how).to_numpy()
        np.testing.assert_allclose(answers[group], truth, atol=1e-3, err_msg=group)
    by_decade = as_summed(frame).groupby("decade")["income"].sum().to_numpy()
    ranges = [by_decade[i : j + 1].sum() for j in range(4) for i in [0]]
    asked = release.ask(rs.workload.sum(PEOPLE, "income", age="prefixes"))["answer"]
    np.testing.assert_allclose(asked, ranges, atol=1e-3)
    by_both = expected(frame, "hours", ["region", "sex"], "sum").to_numpy().reshape(3, 2)
    made = release.table("sex", "region", of="hours").answer.to_numpy()
    np.testing.assert_allclose(made[:2, :3], by_both.T, atol=1e-3)
    np.testing.assert_allclose(made[2, :3], by_both.sum(axis=1), atol=1e-3)
    assert release.ask("sex = 'F'")["answer"][0] == pytest.approx((frame["sex"] == "F").sum(), abs=1e-3)
    assert answers["total"] == pytest.approx(len(frame), abs=1e-3)


def test_every_door_shows_the_same_mean(tmp_path):
    frame = people(500, 3)
    statement = "SELECT sex, AVG(income) AS pay, COUNT(income), SUM(hours) FROM people GROUP BY sex"
    plan = rs.plan(rs.workload.sql(PEOPLE, statement) + rs.workload.mean(PEOPLE, "income"), rs.ZCDP(1e10))
    release = rs.release(plan, frame)
    truth = expected(frame, "income", ["sex"], "mean").to_numpy()
    summed = as_summed(frame)
    np.testing.assert_allclose(release.mean("income", "sex")["answer"], truth, rtol=1e-6)
    answers = release.answers()
    np.testing.assert_allclose(answers[answers["group"] == "query 1: pay"]["answer"], truth, rtol=1e-6)
    asked = release.ask("SELECT sex, AVG(income) FROM p GROUP BY sex")
    np.testing.assert_allclose(asked["answer"][-2:], truth, rtol=1e-6)
    assert asked["income"].tolist() == ["sum"] * 2 + ["records"] * 2 + ["mean"] * 2
    assert release.mean("income")["answer"][0] == pytest.approx(summed["income"].mean(), rel=1e-6)
    female = summed[summed["sex"] == "F"]
    assert release.mean("income", where="sex = 'F'")["answer"][0] == pytest.approx(
        female["income"].mean(), rel=1e-6
    )
    sums = expected(frame, "income", ["sex"], "sum").to_numpy()
    table = release.table("sex", of="income").answer["sum of income"]
    np.testing.assert_allclose(table, [*sums, sums.sum()], rtol=1e-6)
    same = rs.Release.from_bytes(release.to_bytes())
    pd.testing.assert_frame_equal(same.answers(), answers)
    both = rs.combine([release, rs.release(plan, frame)])
    np.testing.assert_allclose(both.mean("income", "sex")["answer"], truth, rtol=1e-6)
    np.testing.assert_allclose(both.answers()["answer"], answers["answer"], rtol=1e-5)
    streamed = pd.concat(release.stream(rows=3), ignore_index=True)
    pd.testing.assert_frame_equal(streamed, answers, check_like=True)
    for ending, read in (
        ("csv", pd.read_csv),
        ("parquet", pd.read_parquet),
        ("json", lambda path: pd.DataFrame(json.loads(path.read_text())["answers"])),
    ):
        export(release, tmp_path / f"a.{ending}")
        np.testing.assert_allclose(read(tmp_path / f"a.{ending}")["answer"], answers["answer"], rtol=1e-9)
    export(release, tmp_path / "a.xlsx")
    sheet = pd.read_excel(tmp_path / "a.xlsx", sheet_name="query 1  pay")
    np.testing.assert_allclose(sheet["answer"], truth, rtol=1e-6)


def test_tables_and_cells_are_counted_alike():
    frame = people(200, 5)
    domain = PEOPLE.with_places()
    cells = count_cells(frame, domain)
    assert cells.sum() == domain.parts * len(frame)
    sets = [(0, 3), (2, 3, 4), (4,), (0, 1), (), (3,)]
    tables = count_marginals(frame, domain, sets)
    for own in sets:
        rest = tuple(i for i in range(5) if i not in own)
        np.testing.assert_array_equal(tables.table(own), cells.sum(axis=rest))


@st.composite
def grids(draw):
    low = draw(st.sampled_from([-7.0, 0.0, 0.1, -1e6, 3.25]))
    steps = draw(st.integers(1, 12))
    step = draw(st.sampled_from([1.0, 0.1, 2.5, 1000.0]))
    return low, low + steps * step, step


VALUES = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True),
    st.integers(-(2**63), 2**63 - 1).map(float),
    st.floats(-20, 20),
)


@given(
    grids(),
    grids(),
    st.lists(st.tuples(st.sampled_from(["a", "b", None]), VALUES, VALUES), min_size=1, max_size=3),
    st.sampled_from([1, 2]),
)
@settings(max_examples=20, deadline=None)
def test_one_record_moves_the_answers_by_no_more_than_the_noise_covers(first, second, records, norm):
    """By brute force: every record added to the others, whatever its values; and replaced by another."""
    domain = Domain(
        g=rs.Categorical(["a", "b"]),
        measures=[
            Measure("x", *first[:2], step=first[2]),
            Measure("y", *second[:2], step=second[2]),
        ],
    )
    w = (
        rs.workload.sum(domain, "x", by="g")
        + rs.workload.mean(domain, "y")
        + rs.workload.marginal(domain, "g")
    )
    privacy = rs.PureDP(1.0) if norm == 1 else rs.ZCDP(0.5)
    plan = rs.plan(w, privacy, effort="fast")
    asked = asked_of_parts(plan.strategy, plan.domain.parts)
    covered = integer_norm(plan.strategy, privacy)

    def exact(rows):
        counts = counts_for(plan, pd.DataFrame(rows, columns=["g", "x", "y"]).astype({"g": object}), None)
        blocks = Strategy.of(asked).exact_answers(counts, 0, np.asarray)
        found = np.zeros(asked.shape[0], dtype=object)
        for where, high, _ in blocks:
            found[where] = high
        return found

    everyone = exact(records)
    for at in range(len(records)):
        moved = everyone - exact([*records[:at], *records[at + 1 :]]) if len(records) > 1 else everyone
        size = sum(abs(m) for m in moved) if norm == 1 else sum(m * m for m in moved)
        assert size <= covered


def test_replacing_a_record_is_covered_too():
    domain = Domain(g=rs.Categorical(["a", "b"]), measures=[Measure("x", -1, 1, step=0.5)])
    w = rs.workload.sum(domain, "x", by="g") + rs.workload.sum(domain, "x")
    plan = rs.plan(w, rs.PureDP(1.0, neighbours=rs.Neighbours.REPLACE_ONE))
    asked = asked_of_parts(plan.strategy, plan.domain.parts)
    rows = [(g, x) for g in ("a", "b") for x in (-1.0, -0.5, 0.0, 0.5, 1.0, None)]
    counts = [
        np.asarray(asked @ counts_for(plan, pd.DataFrame([row], columns=["g", "x"]), None).reshape(-1))
        for row in rows
    ]
    worst = max(np.abs(a - b).sum() for a, b in itertools.product(counts, counts))
    assert worst <= integer_norm(plan.strategy, plan.privacy)


def test_a_unit_is_capped_with_its_values():
    domain = Domain(measures=[Measure("x", 0, 10, step=1)])
    frame = pd.DataFrame({"id": [1] * 50 + [2], "x": [10.0] * 50 + [3.0]})
    privacy = rs.PureDP(1e6, unit=rs.PrivacyUnit("id", rows=2))
    release = rs.release(rs.plan(rs.workload.mean(domain, "x"), privacy), frame)
    assert release.answers()["answer"].round(3).tolist() == [23.0, 3.0, round(23 / 3, 3)]


@pytest.mark.parametrize("privacy", [rs.PureDP(0.7), rs.ZCDP(0.1)], ids=["laplace", "gaussian"])
def test_intervals_cover(privacy):
    """250 releases; 95 % intervals of sums, means and numbers, of a tiny group too. False alarms below 1e-6."""
    frame = pd.DataFrame(
        {
            "region": ["North"] * 400 + ["South"] * 30 + ["East"] * 6,
            "income": np.tile([3.0, 8.0], 218),
        }
    )
    domain = Domain(region=PEOPLE["region"], measures=[Measure("income", 0, 10, step=1)])
    plan = rs.plan(rs.workload.mean(domain, "income", by="region"), privacy)
    truth = np.array([400 * 5.5, 30 * 5.5, 6 * 5.5, 400, 30, 6, 5.5, 5.5, 5.5])
    covered = np.zeros(9)
    for made in releases(plan, frame, 250):
        found = made.answers()
        held = (found["low"] <= truth) & (truth <= found["high"]) | found["answer"].isna()
        covered += held.to_numpy()
    assert (covered / 250 >= 0.95 - 0.085).all(), covered / 250


def test_the_predicted_error_of_a_sum_is_its_error():
    domain = Domain(region=PEOPLE["region"], measures=[Measure("income", 0, 10, step=1)])
    frame = pd.DataFrame({"region": ["North"] * 3, "income": [1.0, 2.0, None]})
    plan = rs.plan(
        rs.workload.sum(domain, "income", by="region") + rs.workload.marginal(domain, "region"),
        rs.PureDP(0.5),
    )
    drawn = np.array([made._answer(plan.counted) for made in releases(plan, frame, 2000)])
    truth = np.array([3.0, 0, 0, 3, 0, 0])
    squares = ((drawn - truth) ** 2).mean(axis=0)
    # The fourth moment of Laplace noise is six times the squared second: a standard error of 5 %.
    np.testing.assert_allclose(squares, plan.query_errors(), rtol=0.27)


@pytest.mark.parametrize("privacy", [rs.ZCDP(0.1), rs.PureDP(0.5)])
def test_means_asked_together_are_those_asked_alone(privacy, monkeypatch):
    """All groups of means are made from one table of answers; each keeps the figures it has alone."""
    frame = pd.DataFrame({"g": list("aab") * 50, "h": [0, 1] * 75, "x": np.arange(150.0) % 11, "y": 1.0})
    domain = rs.Domain(
        g=rs.Categorical(["a", "b", "c"]),
        h=rs.Categorical([0, 1]),
        measures=[Measure("x", 0, 10, step=1), Measure("y", -1, 3, step=1)],
    )
    workload = sum(
        (rs.workload.mean(domain, "y", by=by) for by in ("g", ())),
        rs.workload.mean(domain, "x", by=("g", "h")),
    ) + rs.workload.mean(domain, "x")
    release = rs.release(rs.plan(workload, privacy), frame)
    together = release.answers()
    monkeypatch.setattr(means, "AT_ONCE", 0)
    pd.testing.assert_frame_equal(together, release.answers(), rtol=1e-9, atol=1e-9)
    alone = release.mean("x", "g", "h")
    shown = together[together["group"] == "mean of x by g × h"]
    assert len(shown) == len(alone) == 6
    for column in ("answer", "std_error", "low", "high"):
        np.testing.assert_allclose(shown[column], alone[column], rtol=1e-9, atol=1e-9)


def test_a_group_that_may_be_empty_has_no_mean():
    domain = Domain(region=PEOPLE["region"], measures=[Measure("income", 0, 10, step=1)])
    plan = rs.plan(rs.workload.mean(domain, "income", by="region"), rs.PureDP(5.0))
    found = rs.release(plan, pd.DataFrame({"region": ["North"] * 99, "income": [4.0] * 99})).mean(
        "income", "region", level=1 - 1e-8
    )
    assert found["answer"].notna().tolist()[0]
    assert found["answer"].isna().tolist()[1:] == [True, True]
    assert "not distinguishable from zero" in found["method"][1]


def test_the_figures_of_twenty_groups():
    domain = Domain(g=rs.Categorical(range(20), outside="drop"), measures=[Measure("v", -1, 1, step=0.01)])
    w = rs.workload.mean(domain, "v", by="g") + rs.workload.mean(domain, "v")
    gaussian = rs.plan(w, rs.ZCDP(0.5))
    assert gaussian.total_error <= 111.25
    assert gaussian.ratio < 1.001
    assert rs.plan(w, rs.PureDP(1.0)).total_error <= 320.01


def test_sums_and_counts_of_ranges_are_planned_jointly():
    domain = Domain(age=rs.Numeric(0, 100, bins=100), measures=[Measure("v", 0, 1, step=0.01)])
    w = rs.workload.sum(domain, "v", age="ranges") + rs.workload.ranges(domain, "age")
    assert rs.plan(w, rs.ZCDP(0.5)).ratio < 1.02


def test_statements_say_what_is_summed():
    release = rs.release(rs.plan(rs.workload.mean(PEOPLE, "income"), rs.PureDP(1.0)), people())
    assert "Values of income are clipped to [-10, 30] and rounded to steps of 2.5" in release.statement
    assert "count, sum or mean" in release.answers().attrs["intervals"]


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: Measure("x", 1, 1), "below its upper one"),
        (lambda: Measure("x", 2, 1), "below its upper one"),
        (lambda: Measure("x", 0, float("inf")), "must be finite"),
        (lambda: Measure("x", float("nan"), 1), "must be finite"),
        (lambda: Measure("x", 0, 1, step=0.3), "does not divide"),
        (lambda: Measure("x", 0, 1, step=0), "above zero"),
        (lambda: Measure("x", 0, 1, step=1e-9), "between 1 and"),
        (lambda: Measure("x", "0", 1), "must be a number"),
        (lambda: Measure(0, 1, 2), "name of a measure first"),
        (lambda: Domain(measures=["x"]), "rs.Measure"),
        (lambda: Domain(measures=rs.Categorical(["a"])), "goes in a mapping"),
        (lambda: Domain(x=Measure("y", 0, 1)), "under its own name"),
        (
            lambda: Domain(x=PEOPLE["sex"], measures=[Measure("x", 0, 1)]),
            "twice: to an attribute and to a measure",
        ),
        (lambda: Domain({"x": Measure("x", 0, 1), "sex": PEOPLE["sex"]}), "after all other"),
        (lambda: PEOPLE.resolve("income"), "is a measure, which is added up"),
        (lambda: PEOPLE.measure("sex"), "not a measure"),
    ],
)
def test_bad_declarations(made, message):
    with pytest.raises(InvalidDomain, match=message):
        made()


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: rs.workload.marginal(PEOPLE, "income"), "is a measure"),
        (lambda: rs.workload.ranges(PEOPLE, "income"), "is a measure"),
        (lambda: rs.workload.predicates(PEOPLE, ["income > 3"]), "is a measure"),
        (lambda: rs.workload.sum(PEOPLE, "age"), "not a measure"),
        (lambda: rs.workload.sum(PEOPLE, "income", by="sex", sex="identity"), "named twice"),
        (lambda: rs.workload.sum("people", "income"), "needs a Domain"),
        (lambda: rs.workload.sum(PEOPLE, "incme"), "did you mean|income"),
        (lambda: rs.workload.sql(PEOPLE, "SELECT AVG(income * 2) FROM p"), "AVG is not a count"),
        (lambda: rs.workload.sql(PEOPLE, "SELECT income, COUNT(*) FROM p GROUP BY income"), "is a measure"),
    ],
)
def test_bad_queries(made, message):
    with pytest.raises((InvalidWorkload, InvalidDomain), match=message):
        made()


def test_counts_made_elsewhere_have_no_values():
    plan = rs.plan(rs.workload.mean(PEOPLE, "income"), rs.PureDP(1.0))
    with pytest.raises(InvalidInput, match="holds no values of 'income'"):
        rs.release(plan, [1, 2])


def test_a_strategy_that_is_not_in_parts_is_refused():
    """Noise for a whole record would be too little where each is counted in parts."""
    import dataclasses

    plan = rs.plan(rs.workload.mean(PEOPLE, "income"), rs.PureDP(1.0))
    inner = asked_of_parts(plan.strategy, plan.domain.parts)
    weaker = dataclasses.replace(
        plan, strategy=inner, noise=plan.privacy.noise(integer_norm(inner, plan.privacy))
    )
    with pytest.raises(InvalidInput, match="times an integer matrix"):
        rs.release(weaker, people())
    body, arrays = weaker.encode()
    with pytest.raises(FileError, match="times an integer matrix"):
        rs.Plan.decode(body, arrays)
    assert plan.domain.parts * inner == plan.strategy


def test_later_questions_of_what_was_not_measured_are_refused():
    domain = Domain(region=PEOPLE["region"], measures=[Measure("income", 0, 10), Measure("tax", 0, 5)])
    release = rs.release(
        rs.plan(rs.workload.sum(domain, "income"), rs.PureDP(1.0)),
        pd.DataFrame({"region": ["North"], "income": [3.0], "tax": [1.0]}),
    )
    with pytest.raises(InvalidWorkload, match="'tax' was not measured"):
        release.ask(rs.workload.sum(domain, "tax"))
    with pytest.raises((UnsupportedWorkload, InvalidWorkload)):
        release.ask(rs.workload.sum(domain, "income", by="region"))


def test_values_of_every_type_are_read(tmp_path):
    from decimal import Decimal

    import polars as pl
    import pyarrow as pa

    domain = Domain(measures=[Measure("x", 0, 10, step=0.5)])
    plan = rs.plan(rs.workload.mean(domain, "x"), rs.PureDP(1e7))
    frames = [
        pd.DataFrame({"x": [1, 2, 30]}),
        pd.DataFrame({"x": [Decimal("1.0"), Decimal("2.00"), Decimal(30)]}),
        pl.DataFrame({"x": [1.0, 2.0, 30.0, None]}),
        pa.table({"x": pa.array([1, 2, 30], pa.int8())}),
    ]
    pd.DataFrame({"x": [1, 2, 30, None]}).to_csv(tmp_path / "x.csv", index=False)
    for source in (*frames, tmp_path / "x.csv"):
        answers = rs.release(plan, source).answers()["answer"]
        assert answers.round(3).tolist() == [13.0, 3.0, round(13 / 3, 3)]


def test_what_is_made_of_counts_alone_is_refused():
    w = rs.workload.mean(PEOPLE, "income", by="sex") + rs.workload.marginal(PEOPLE, "sex")
    release = rs.release(rs.plan(w, rs.ZCDP(1e8)), people())
    for asked in (
        lambda: release.estimate_tables(),
        lambda: release.synthetic(5),
        lambda: release.consistent(integral=True),
        lambda: release.consistent(by="estimate"),
    ):
        with pytest.raises(InvalidInput, match="made of counts alone, and this release has sums"):
            asked()
    found = release.consistent().answers()["answer"]
    np.testing.assert_allclose(found, release.answers()["answer"][: len(found)], atol=1)


def test_sessions_buy_sums(tmp_path):
    ledger = rs.Ledger(tmp_path / "budget.db")
    ledger.create("people", rs.ZCDP(1.0))
    session = rs.Session(PEOPLE, people(), ledger=ledger)
    asked = rs.workload.sum(PEOPLE, "hours", by="sex")
    assert not session.price(asked, within=200).free
    session.ask(asked, within=200)
    assert session.price(asked, within=200).free


def test_plans_beside_earlier_releases_know_sums():
    w = rs.workload.mean(PEOPLE, "income", by="sex")
    frame = people(2000)
    first = rs.release(rs.plan(w, rs.ZCDP(1.0)), frame)
    second = rs.release(rs.plan(w, rs.ZCDP(1.0), given=[first]), frame)
    both = rs.combine([first, second]).mean("income", "sex")
    strayed = (
        np.abs(both["answer"] - expected(frame, "income", ["sex"], "mean").to_numpy()) / both["std_error"]
    )
    assert strayed.max() < 7
    assert (both["std_error"] < first.mean("income", "sex")["std_error"]).all()


@pytest.mark.parametrize("objective", ["total", "max"])
def test_errors_of_counts_and_sums_have_one_unit(objective):
    """By brute force: a sum in units of its largest value, importance aside, whatever the unit of the measure."""
    figures = []
    for scale in (1, 1000):
        domain = Domain(g=PEOPLE["sex"], measures=[Measure("x", 0, 8 * scale, step=scale)])
        w = 5 * rs.workload.sum(domain, "x", by="g") + rs.workload.marginal(domain, "g")
        plan = rs.plan(w, rs.ZCDP(0.5), objective=objective)
        errors = plan.query_errors() * np.array([1 / (8 * scale) ** 2] * 2 + [1] * 2)
        assert plan.rmse == pytest.approx(np.sqrt(errors.mean()))
        assert plan.max_error == pytest.approx(errors.max())
        assert plan.ratio >= 1
        figures.append((plan.rmse, plan.max_error, plan.ratio))
        assert "of sums in units of the largest value" in str(plan)
        given = rs.plan(w, rs.ZCDP(0.5), objective="max", strategy=np.eye(4))
        assert given.max_lower_bound <= given.max_error
    np.testing.assert_allclose(figures[0], figures[1], rtol=1e-6)
