"""Variances and standard deviations: pandas' figures through every door, and noise that covers any value."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import rowspace as rs
from rowspace.cli.program import app
from rowspace.domain import Domain, Measure
from rowspace.exceptions import (
    InvalidDomain,
    InvalidStudy,
    InvalidWorkload,
    PredicateError,
    UnsupportedWorkload,
)
from rowspace.measure import measure
from rowspace.mechanism import counts_for
from rowspace.privacy import integer_norm
from rowspace.releases.export import export
from rowspace.report import html
from rowspace.sources import count_cells
from rowspace.strategy import asked_of_parts

ONE = np.array([[0.0, 1.0, 3.0, 4.0]])
REGIONS, SEXES = ["North", "South"], ["F", "M"]
PEOPLE = rs.Domain(
    region=rs.Categorical(REGIONS),
    sex=rs.Categorical(SEXES),
    measures=[Measure("income", -10, 30, step=2.5, squares=True), Measure("hours", 0, 8, step=1)],
)


def people(n=300, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "hours": rng.integers(-3, 12, n).astype(float),
            "income": rng.normal(10, 20, n),
            "sex": rng.choice(np.array(["F", "M", None], dtype=object), n),
            "region": rng.choice(["North", "South", "West"], n),
        }
    )
    frame.loc[rng.random(n) < 0.1, "income"] = np.nan
    frame.loc[rng.random(n) < 0.05, "income"] = -np.inf
    return frame


def income(frame):
    """The values as they are added up."""
    kept = frame["income"].where(np.isfinite(frame["income"])).clip(-10, 30)
    return np.floor((kept + 10) / 2.5 + 0.5) * 2.5 - 10


def truth(frame, how, *by, **options):
    keys = [frame[name] for name in by]
    order = [{"sex": SEXES, "region": REGIONS}[name] for name in by]
    found = getattr(income(frame).groupby(keys), how)(**options)
    return found.reindex(pd.MultiIndex.from_product(order) if len(by) > 1 else order[0]).to_numpy()


@pytest.mark.parametrize("privacy", [rs.PureDP(1e8), rs.ZCDP(1e12)], ids=lambda p: type(p).__name__)
def test_variances_are_those_of_pandas(privacy):
    frame = people()[::-1].reset_index(drop=True)
    w = (
        rs.workload.variance(PEOPLE, "income", by=("sex", "region"))
        + rs.workload.standard_deviation(PEOPLE, "income", by="sex", sample=True)
        + rs.workload.mean(PEOPLE, "hours", by="region")
        + rs.workload.total(PEOPLE)
    )
    release = rs.release(rs.plan(w, privacy), frame)
    by_both = truth(frame, "var", "region", "sex", ddof=0)
    answers = release.answers().set_index("group")["answer"]
    np.testing.assert_allclose(answers["variance of income by sex × region"], by_both, rtol=1e-5)
    deviations = truth(frame, "std", "sex")
    named = "sample standard deviation of income by sex"
    np.testing.assert_allclose(answers[named], deviations, rtol=1e-5)
    turned = release.variance("income", "sex", "region")
    np.testing.assert_allclose(turned["answer"], by_both.reshape(2, 2).T.ravel(), rtol=1e-5)
    assert turned["sex"].tolist() == ["F", "F", "M", "M"]
    here = frame[frame["region"] == "South"]
    found = release.standard_deviation("income", "sex", where="region = 'South'", sample=True)
    np.testing.assert_allclose(found["answer"], truth(here, "std", "sex"), rtol=1e-5)
    # What a record adds is the same with two cells and with four.
    means = release.mean("income", "region", "sex")["answer"]
    np.testing.assert_allclose(means, truth(frame, "mean", "region", "sex"), rtol=1e-5)


def test_every_door_shows_the_same_variance(tmp_path):
    frame = people(400, 3)
    statement = "SELECT sex, VAR_POP(income) AS spread, STDDEV(income), COUNT(*) FROM people GROUP BY sex"
    plan = rs.plan(rs.workload.sql(PEOPLE, statement), rs.ZCDP(1e10))
    release = rs.release(plan, frame)
    spread, deviation = truth(frame, "var", "sex", ddof=0), truth(frame, "std", "sex")
    answers = release.answers()
    assert (
        answers["group"].tolist()[-4:]
        == ["query 1: spread"] * 2 + ["query 1: sample standard deviation of income"] * 2
    )
    np.testing.assert_allclose(answers["answer"][-4:], [*spread, *deviation], rtol=1e-5)
    assert answers["income"].unique().tolist() == [
        "sum", "records", "squares", "all", "variance", "sample standard deviation",
    ]  # fmt: skip
    asked = release.ask("SELECT sex, VARIANCE(income) FROM p WHERE sex IN ('F', 'M') GROUP BY sex")
    np.testing.assert_allclose(asked["answer"][-2:], deviation**2, rtol=1e-5)
    only = release.ask("SELECT STDDEV_POP(income) FILTER (WHERE sex = 'F') FROM p")["answer"].iloc[-1]
    assert only == pytest.approx(np.sqrt(spread[0]), rel=1e-5)

    release.save(tmp_path / "a.release")
    pd.testing.assert_frame_equal(rs.Release.load(tmp_path / "a.release").answers(), answers)
    streamed = pd.concat(release.stream(rows=3), ignore_index=True)
    pd.testing.assert_frame_equal(streamed, answers, check_like=True)
    both = rs.combine([release, rs.release(plan, frame)])
    np.testing.assert_allclose(both.variance("income", "sex")["answer"], spread, rtol=1e-5)
    np.testing.assert_allclose(both.answers()["answer"], answers["answer"], rtol=1e-5)
    for ending, read in (
        ("csv", pd.read_csv),
        ("parquet", pd.read_parquet),
        ("json", lambda path: pd.DataFrame(json.loads(path.read_text())["answers"])),
    ):
        export(release, tmp_path / f"a.{ending}")
        np.testing.assert_allclose(read(tmp_path / f"a.{ending}")["answer"], answers["answer"], rtol=1e-9)
    export(release, tmp_path / "a.xlsx")
    sheet = pd.read_excel(tmp_path / "a.xlsx", sheet_name="query 1  spread")
    np.testing.assert_allclose(sheet["answer"], spread, rtol=1e-5)
    page = html.report_page(release)
    assert f"{spread[0]:.3f}"[:5] in page
    assert "variance" in page
    told = CliRunner().invoke(
        app, ["ask", str(tmp_path / "a.release"), "SELECT VAR_POP(income) FROM p WHERE sex = 'M'", "--json"]
    )
    assert told.exit_code == 0, told.output
    assert json.loads(told.stdout)["answers"][-1]["answer"] == pytest.approx(spread[1], rel=1e-5)


STUDY = """
[study]
name = "pay"
[privacy]
rho = 1e9
[domain.sex]
type = "categorical"
categories = ["F", "M"]
[measure.income]
low = -10
high = 30
step = 2.5
squares = true
[[workload]]
standard_deviation = "income"
by = ["sex"]
sample = true
[[workload]]
variance = "income"
"""


def test_studies_ask_for_them(tmp_path):
    frame = people(300, 1)
    study = rs.Study.parse(STUDY)
    assert study.domain.measure("income") == PEOPLE.measure("income")
    release = rs.release(rs.plan(study.workload, study.privacy), frame)
    expected = [*truth(frame, "std", "sex"), income(frame).var(ddof=0)]
    np.testing.assert_allclose(release.answers()["answer"][-3:], expected, rtol=1e-5)
    for wrong, words in (
        ('squares = "yes"', "squares = true or"),
        ("sqares = true", "did you mean 'squares'"),
    ):
        with pytest.raises(InvalidStudy, match=rf"\[measure.income\]: .*{words}"):
            rs.Study.parse(STUDY.replace("squares = true", wrong))
    written = rs.Study.parse(study.to_toml()) if hasattr(study, "to_toml") else study
    assert written.domain == study.domain


def test_sessions_buy_them(tmp_path):
    ledger = rs.Ledger(tmp_path / "budget.db")
    ledger.create("people", rs.ZCDP(1.0))
    session = rs.Session(PEOPLE, people(), ledger=ledger)
    asked = rs.workload.variance(PEOPLE, "income", by="sex")
    session.ask(asked, within=20_000)
    assert session.price(asked, within=20_000).free


@given(
    st.integers(1, 7),
    st.booleans(),
    st.sampled_from([1, 2]),
    st.sampled_from([-3.0, 0.0, 0.1]),
    st.sampled_from([rs.Neighbours.ADD_REMOVE, rs.Neighbours.REPLACE_ONE]),
)
@settings(max_examples=10, deadline=None)
def test_one_record_moves_the_answers_by_no_more_than_the_noise_covers(steps, other, norm, low, neighbours):
    """By brute force: a record of every value on the grid, and none, and every two of them for one another."""
    domain = Domain(
        g=rs.Categorical(["a", "b"]),
        measures=[
            Measure("x", low, low + steps, step=1, squares=True),
            *([Measure("y", 0, 2, step=1, squares=True)] if other else []),
        ],
    )
    w = rs.workload.variance(domain, "x", by="g") + rs.workload.marginal(domain, "g")
    if other:
        w += rs.workload.variance(domain, "y")
    unit = {"neighbours": neighbours}
    privacy = rs.PureDP(1.0, **unit) if norm == 1 else rs.ZCDP(0.5, **unit)
    plan = rs.plan(w, privacy, effort="fast")
    asked = asked_of_parts(plan.strategy, plan.domain.parts)
    values = [low + k for k in range(steps + 1)] + [None]
    rows = [("a", x, y) for x in values for y in ([0.0, 1.0, 2.0] if other else [None])]
    rows += [("b", low, None), (None, low + steps, 1.0)]
    records = pd.DataFrame(rows, columns=["g", "x", "y"]).astype({"g": object, "x": float, "y": float})
    # Every record by itself, all at once.
    alone = Domain(
        {"number": rs.Categorical(range(len(rows))), "g": domain["g"]}, measures=domain.measures
    ).with_places()
    cells = count_cells(records.assign(number=range(len(rows))), alone)[:-1].reshape(len(rows), -1)
    assert (cells.sum(axis=1) == domain.parts).all()
    assert cells.min() >= 0
    moved = [np.asarray(asked @ own, dtype=float) for own in cells]
    if neighbours is rs.Neighbours.REPLACE_ONE:
        moved = [a - b for a in moved for b in moved]
    worst = max(np.abs(own).sum() if norm == 1 else (own**2).sum() for own in moved)
    assert worst <= integer_norm(plan.strategy, privacy) * (1 + 1e-12)


@pytest.mark.parametrize("privacy", [rs.PureDP(0.7), rs.ZCDP(0.1)], ids=["laplace", "gaussian"])
def test_intervals_cover(privacy):
    """120 releases; 95 % intervals of variances, of a tiny group too. False alarms below 1e-6."""
    values = np.tile([3.0, 8.0, 9.0], 146)[:436]
    frame = pd.DataFrame({"region": ["North"] * 400 + ["South"] * 36, "income": values})
    domain = Domain(region=PEOPLE["region"], measures=[Measure("income", 0, 10, step=1, squares=True)])
    plan = rs.plan(rs.workload.variance(domain, "income", by="region"), privacy)
    expected = frame.groupby("region")["income"].var(ddof=0).to_numpy()
    counts = counts_for(plan, frame, None)
    covered, strayed = np.zeros(2), []
    for _ in range(120):
        noisy = measure(plan.strategy, plan.noise, counts, parts=plan.domain.parts)
        found = rs.Release(plan, noisy.answers).variance("income", "region")
        covered += ((found["low"] <= expected) & (expected <= found["high"])).to_numpy()
        strayed.append((found["answer"][0] - expected[0]) / found["std_error"][0])
    assert (covered / 120 >= 0.95 - 0.12).all(), covered / 120
    # Of the large group the standard error is the spread of the answers.
    assert 0.6 < np.std(strayed) < 1.5


def test_known_numbers_of_records_do_no_harm():
    domain = Domain(region=PEOPLE["region"], measures=[Measure("income", 0, 10, step=1, squares=True)])
    frame = pd.DataFrame({"region": ["North", "South"] * 200, "income": np.tile([1.0, 5, 8, 4], 100)})
    w = rs.workload.variance(domain, "income", by="region")
    w += rs.workload.valued(domain, "income") + rs.workload.total(domain)
    facts = {"total": 400, "region = 'North'": 200, "region = 'South'": 200}
    told = rs.release(rs.plan(w, rs.ZCDP(0.5), known=facts), frame).variance(
        "income", "region", level=1 - 1e-7
    )
    expected = frame.groupby("region")["income"].var(ddof=0).to_numpy()
    assert ((told["low"] <= expected) & (expected <= told["high"])).all()
    assert (told["std_error"] < 2).all()


def test_no_answer_where_there_may_be_nobody():
    domain = Domain(region=PEOPLE["region"], measures=[Measure("income", 0, 10, step=1, squares=True)])
    plan = rs.plan(rs.workload.variance(domain, "income", by="region"), rs.PureDP(1e7))
    frame = pd.DataFrame({"region": ["North"], "income": [4.0]})
    release = rs.release(plan, frame)
    found = release.variance("income", "region")
    assert found["answer"].round(6).tolist()[0] == 0
    assert np.isnan(found["answer"][1])
    assert "not distinguishable from zero" in found["method"][1]
    one = release.variance("income", "region", sample=True)
    assert one["answer"].isna().all()
    assert "not distinguishable from one" in one["method"][0]


def test_statements_say_what_rounding_does():
    release = rs.release(rs.plan(rs.workload.variance(PEOPLE, "income"), rs.PureDP(1.0)), people())
    assert "Rounding moves a standard deviation by at most half a step" in release.statement
    assert "count, sum, mean or variance" in release.answers().attrs["intervals"]


def test_what_is_refused():
    plain = Domain(measures=[Measure("income", 0, 10, step=1)])
    with pytest.raises(InvalidWorkload, match=r"Measure\('income', 0, 10, step=1, squares=True\)"):
        rs.workload.variance(plain, "income")
    with pytest.raises((InvalidWorkload, PredicateError), match="squares=True"):
        rs.workload.sql(plain, "SELECT VAR_POP(income) FROM p")
    release = rs.release(rs.plan(rs.workload.mean(plain, "income"), rs.PureDP(1.0)), people())
    with pytest.raises(InvalidWorkload, match="squares=True"):
        release.variance("income")
    squares = Domain(measures=[Measure("income", 0, 10, step=1, squares=True)])
    release = rs.release(rs.plan(rs.workload.sum(squares, "income"), rs.PureDP(1.0), strategy=ONE), people())
    with pytest.raises(UnsupportedWorkload):
        release.variance("income")
    with pytest.raises(InvalidDomain, match="at most 2,896 steps"):
        Measure("x", 0, 1, step=1 / 3000, squares=True)
    with pytest.raises(InvalidDomain, match="true or false"):
        Measure("x", 0, 1, squares=1)
    with pytest.raises(InvalidWorkload, match="VAR_POP and STDDEV_POP"):
        rs.workload.sql(PEOPLE, "SELECT MEDIAN(income) FROM p")
    saved = {"name": "x", "kind": "measure", "low": 0, "high": 1, "steps": 2**22, "squares": True}
    with pytest.raises(InvalidDomain, match="at most 2,896 steps"):
        Measure.from_dict(saved)
