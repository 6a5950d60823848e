"""People rather than rows: a unit counts at most once in a cell, and in at most so many cells."""

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rowspace as rs
from rowspace.exceptions import InvalidDomain, InvalidInput, InvalidPrivacy, InvalidStudy, InvalidWorkload
from rowspace.sources import count_cells, count_marginals

DOMAIN = rs.Domain(a=rs.Categorical(["x", "y"]), b=rs.Numeric(0, 3, bins=3))
ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(["x", "y", "z", None]), st.integers(-1, 3)), max_size=14
)


def table(rows):
    return pd.DataFrame(
        {
            "who": [r[0] for r in rows],
            "a": pd.Series([r[1] for r in rows], dtype=object),
            "b": [r[2] for r in rows],
        }
    ).astype({"who": "int64", "b": "int64"})


def cells_of(rows):
    """The cells that each unit is in, by plain Python."""
    found = defaultdict(set)
    for who, a, b in rows:
        found[who].add(({"x": 0, "y": 1}.get(a, 2), b if 0 <= b < 3 else 3))
    return found


@given(ROWS, st.integers(1, 4))
@settings(max_examples=25, deadline=None)
def test_a_unit_is_in_a_cell_once_and_in_few(rows, most):
    unit = rs.PrivacyUnit("who", most, distinct=True)
    counts = count_cells(table(rows), DOMAIN.with_places(), unit=unit)
    own = cells_of(rows)
    assert counts.sum() == sum(min(most, len(cells)) for cells in own.values())
    every = np.zeros_like(counts)
    for cells in own.values():
        for cell in cells:
            every[cell] += 1
    assert (counts <= every).all()
    if most >= max(map(len, own.values()), default=0):
        np.testing.assert_array_equal(counts, every)


def test_one_unit_changes_at_most_its_cells(monkeypatch):
    from rowspace.sources import contributions

    monkeypatch.setattr(contributions.secrets, "token_hex", lambda size: "key")
    rng = np.random.default_rng(0)
    rows = [(int(rng.integers(9)), "xy"[rng.integers(2)], int(rng.integers(3))) for _ in range(80)]
    unit = rs.PrivacyUnit("who", 2, distinct=True)
    with_all = count_cells(table(rows), DOMAIN, unit=unit)
    shuffled = [rows[i] for i in rng.permutation(len(rows))]
    np.testing.assert_array_equal(count_cells(table(shuffled), DOMAIN, unit=unit), with_all)
    for who in range(9):
        without = count_cells(table([r for r in rows if r[0] != who]), DOMAIN, unit=unit)
        assert (with_all - without).min() >= 0
        assert (with_all - without).max() <= 1
        assert (with_all - without).sum() <= 2


def test_people_are_counted_as_pandas_counts_them():
    rng = np.random.default_rng(1)
    visits = pd.DataFrame(
        {"who": rng.integers(0, 60, 500), "a": rng.choice(["x", "y"], 500), "b": rng.integers(0, 3, 500)}
    )
    privacy = rs.PureDP(1e6, unit=rs.PrivacyUnit("who", 6, distinct=True))
    plan = rs.plan(rs.workload.marginal(DOMAIN, "a", "b"), privacy)
    release = rs.release(plan, visits)
    people = visits.groupby(["a", "b"])["who"].nunique().to_numpy()
    np.testing.assert_allclose(release.answers()["answer"], people, atol=1e-3)
    assert "counted at most once in a cell and in at most 6 cells" in release.statement
    assert rs.Plan.decode(*plan.encode()).privacy == privacy
    tables = count_marginals(visits, plan.domain, [(0,), (0, 1)], unit=privacy.unit)
    np.testing.assert_array_equal(tables.table((0,)), tables.table((0, 1)).sum(axis=1))


def test_studies_say_it():
    text = """
[study]
name = "people"
[privacy]
epsilon = 1.0
privacy_unit = "who"
max_rows_per_unit = 3
distinct_units = true
[domain.a]
type = "categorical"
categories = ["x", "y"]
[[workload]]
marginal = ["a"]
"""
    assert rs.Study.parse(text).privacy.unit == rs.PrivacyUnit("who", 3, distinct=True)
    alone = text.replace('privacy_unit = "who"\nmax_rows_per_unit = 3\n', "")
    with pytest.raises(InvalidStudy, match="goes with privacy_unit"):
        rs.Study.parse(alone)


def test_what_is_refused():
    with pytest.raises(InvalidPrivacy, match="True or False"):
        rs.PrivacyUnit("who", 1, distinct=1)
    with pytest.raises(InvalidPrivacy):
        rs.PureDP(1.0, unit={"column": "who", "rows": 1, "distinct": "yes"})
    domain = rs.Domain(measures=[rs.Measure("b", 0, 3, step=1)])
    plan = rs.plan(
        rs.workload.mean(domain, "b"), rs.PureDP(1.0, unit=rs.PrivacyUnit("who", 1, distinct=True))
    )
    with pytest.raises(InvalidInput, match=r'no one value of .b. there: declare it with per_unit="sum"'):
        rs.release(plan, pd.DataFrame({"who": [1], "b": [2]}))


def test_check_advises_on_cells() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"who": rng.integers(0, 50, 300), "b": rng.choice(list("xyz"), 300)})
    unit = rs.PrivacyUnit("who", 1, distinct=True)
    found = rs.check(rs.Domain(b=rs.Categorical(list("xyz"))), frame, unit=unit)
    cells = frame.drop_duplicates().groupby("who").size()
    assert (found.unit.of, found.unit.rows, found.unit.largest) == ("cells", cells.sum(), cells.max())
    assert f"leaves out {cells.sum() - len(cells)} of {cells.sum()} cells" in " ".join(found.lines())


def test_plans_say_what_a_cap_costs() -> None:
    asked = rs.workload.marginal(rs.Domain(b=rs.Categorical(list("xyz"))), "b")
    for privacy, price in ((rs.ZCDP(0.5), "1.41"), (rs.PureDP(0.05), "2")):
        said = rs.plan(asked, replace(privacy, unit=rs.PrivacyUnit("who", 2, distinct=True))).remarks
        assert f"up to 2 cells of each who costs {price} times the standard error" in " ".join(said)


VISITS = pd.DataFrame(
    {
        "who": np.random.default_rng(1).integers(0, 60, 500),
        "a": np.random.default_rng(2).choice(np.array(["x", "y", None], dtype=object), 500),
        "b": np.random.default_rng(3).integers(0, 3, 500),
    }
)
PEOPLE_BY_A = "SELECT a, COUNT(DISTINCT who) AS people FROM visits GROUP BY a"


def test_sql_counts_people(tmp_path):
    by_a = VISITS.groupby("a")["who"].nunique().to_numpy()
    privacy = rs.PureDP(1e6, unit=rs.PrivacyUnit("who", 3, distinct=True))
    plan = rs.plan(rs.workload.sql(DOMAIN, PEOPLE_BY_A), privacy)
    plan = rs.Plan.decode(*plan.encode())
    release = rs.release(plan, VISITS)
    answers = release.answers()
    np.testing.assert_allclose(answers["answer"], by_a, atol=1e-3)
    assert answers["group"].tolist() == ["people", "people"]
    asked = release.ask("SELECT COUNT(DISTINCT v.Who) FILTER (WHERE a = 'y') FROM visits v")["answer"]
    assert asked[0] == pytest.approx(by_a[1], abs=1e-3)
    both = rs.combine([release, rs.release(plan, VISITS)])
    np.testing.assert_allclose(both.ask(PEOPLE_BY_A)["answer"], by_a, atol=1e-3)
    # Over several cells one person would be counted in each.
    with pytest.raises(InvalidWorkload, match="adds up cells of a"):
        release.ask("SELECT COUNT(DISTINCT who) FROM visits")
    wider = rs.workload.sql(DOMAIN, PEOPLE_BY_A) + rs.workload.marginal(DOMAIN, "a", "b")
    with pytest.raises(InvalidWorkload, match="adds up cells of b"):
        rs.plan(wider, privacy)
    once = rs.PureDP(1e6, unit=rs.PrivacyUnit("who", 1, distinct=True))
    found = rs.release(rs.plan(wider, once), VISITS)
    everybody = "SELECT COUNT(DISTINCT who) FROM visits"
    assert found.ask(f"{everybody} WHERE a IS NULL OR a = 'x' OR a = 'y'")["answer"][0] == pytest.approx(
        60, abs=1e-3
    )
    alone = rs.release(rs.plan(rs.workload.sql(DOMAIN, everybody), once), VISITS)
    assert alone.answers()["answer"][0] == pytest.approx(60, abs=1e-3)


def test_people_need_a_promise_to_them():
    asked = rs.workload.sql(DOMAIN, PEOPLE_BY_A)
    for unit in (None, rs.PrivacyUnit("who", 1), rs.PrivacyUnit("household", 1, distinct=True)):
        with pytest.raises(InvalidWorkload, match=r"PrivacyUnit\('who', rows=1, distinct=True\)"):
            rs.plan(asked, rs.PureDP(1.0, unit=unit))
    release = rs.release(rs.plan(rs.workload.marginal(DOMAIN, "a"), rs.PureDP(1.0)), VISITS)
    with pytest.raises(InvalidWorkload, match="counts units, each once"):
        release.ask(PEOPLE_BY_A)
    with pytest.raises(InvalidWorkload, match="GROUP BY the column"):
        rs.workload.sql(DOMAIN, "SELECT COUNT(DISTINCT a) FROM visits")


def test_studies_and_sessions_count_people(tmp_path):
    text = f"""
[study]
name = "people"
[privacy]
epsilon = 1e6
privacy_unit = "who"
max_rows_per_unit = 3
distinct_units = true
[domain.a]
type = "categorical"
categories = ["x", "y"]
[[workload]]
sql = "{PEOPLE_BY_A}"
"""
    by_a = VISITS.groupby("a")["who"].nunique().to_numpy()
    study = rs.Study.parse(text)
    found = rs.release(rs.plan(study.workload, study.privacy), VISITS).answers()["answer"]
    np.testing.assert_allclose(found, by_a, atol=1e-3)
    plain = rs.Study.parse(text.replace("distinct_units = true\n", ""))
    with pytest.raises(InvalidWorkload, match="counts units, each once"):
        rs.plan(plain.workload, plain.privacy)
    ledger = rs.Ledger(tmp_path / "budget.db")
    ledger.create("visits", rs.PureDP(1e6, unit=rs.PrivacyUnit("who", 3, distinct=True)))
    session = rs.Session(DOMAIN.subset(["a"]), VISITS, ledger=ledger)
    bought = session.ask(PEOPLE_BY_A, within=0.1)
    np.testing.assert_allclose(bought.table["answer"], by_a, atol=1)
    with pytest.raises(InvalidWorkload, match="adds up cells of a"):
        session.price("SELECT COUNT(DISTINCT who) FROM visits", within=1.0)


def spending(measure="sum", seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "who": rng.integers(0, 40, 300),
            "a": rng.choice(np.array(["x", "y", None], dtype=object), 300),
            "spend": np.round(rng.gamma(1, 6, 300), 1),
        }
    )
    frame.loc[rng.random(300) < 0.2, "spend"] = np.nan
    frame.loc[frame["who"] == 7, "spend"] = np.nan
    rounded = np.floor(frame["spend"].clip(0, 50) / 0.5 + 0.5) * 0.5
    people = rounded.groupby([frame["who"], frame["a"]]).agg(
        lambda own: own.sum(min_count=1) if measure == "sum" else own.mean()
    )
    if measure == "mean":
        people = np.floor(people / 0.5 + 0.5) * 0.5
    return frame, people.clip(upper=50)


@pytest.mark.parametrize("how", ["sum", "mean"])
def test_means_per_person_are_those_of_pandas(how):
    frame, people = spending(how)
    domain = rs.Domain(
        a=rs.Categorical(["x", "y"]),
        measures=[rs.Measure("spend", 0, 50, step=0.5, squares=True, per_unit=how)],
    )
    privacy = rs.PureDP(1e7, unit=rs.PrivacyUnit("who", 3, distinct=True))
    statement = "SELECT a, AVG(spend), VAR_POP(spend), COUNT(DISTINCT who) FROM t GROUP BY a"
    plan = rs.Plan.decode(*rs.plan(rs.workload.sql(domain, statement), privacy).encode())
    for rows in (frame, frame.sample(frac=1, random_state=1)):
        release = rs.release(plan, rows)
        by_a = people.groupby("a")
        np.testing.assert_allclose(release.mean("spend", "a")["answer"], by_a.mean(), rtol=1e-5)
        np.testing.assert_allclose(release.variance("spend", "a")["answer"], by_a.var(ddof=0), rtol=1e-4)
        counted = release.ask("SELECT a, COUNT(DISTINCT who) FROM t GROUP BY a")["answer"]
        np.testing.assert_allclose(counted, frame.groupby("a")["who"].nunique(), atol=1e-3)
    assert "for each unit in a cell, and" in release.statement
    with pytest.raises(InvalidWorkload, match="leave out per_unit="):
        rs.plan(rs.workload.mean(domain, "spend"), rs.PureDP(1.0, unit=rs.PrivacyUnit("who", 3)))
    with pytest.raises(InvalidDomain, match="needs 0 as lower bound"):
        rs.Measure("spend", -1, 5, per_unit="sum")
    with pytest.raises(InvalidDomain, match='"sum" or "mean"'):
        rs.Measure("spend", 0, 5, per_unit="max")


@pytest.mark.parametrize("how", ["sum", "mean"])
def test_one_unit_changes_only_its_own_parts(monkeypatch, how):
    """By brute force: without any one unit, all others have the values that they had."""
    from rowspace.sources import contributions

    monkeypatch.setattr(contributions.secrets, "token_hex", lambda size: "key")
    frame, _ = spending(how)
    frame = frame[frame["who"] < 12]
    domain = rs.Domain(
        a=rs.Categorical(["x", "y"]), measures=[rs.Measure("spend", 0, 50, step=12.5, per_unit=how)]
    ).with_places()
    unit = rs.PrivacyUnit("who", 2, distinct=True)
    with_all = count_cells(frame, domain, unit=unit)
    by_table = count_marginals(frame, domain, [(0,), (0, 1)], unit=unit)
    np.testing.assert_array_equal(by_table.table((0, 1)), with_all)
    for who in range(12):
        moved = with_all - count_cells(frame[frame["who"] != who], domain, unit=unit)
        assert moved.min() >= 0
        assert moved.sum() <= 2 * domain.parts
        assert moved.sum(axis=1).max() <= domain.parts
