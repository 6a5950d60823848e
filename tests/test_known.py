"""Known totals and impossible cells, as a user states them and reads what comes out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rowspace as rs
from rowspace.exceptions import FileError, InvalidInput, RowspaceError
from rowspace.measure import measure
from rowspace.mechanism import counts_for
from rowspace.noise import InsecureSeededRandom
from rowspace.sources import count_cells

REGIONS = [f"r{i}" for i in range(6)]


def people(rows: int = 3000) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    age = rng.integers(0, 40, rows)
    frame = pd.DataFrame(
        {
            "region": rng.choice(REGIONS, rows),
            "age": age,
            "married": np.where((age >= 16) & (rng.random(rows) < 0.5), "yes", "no"),
        }
    )
    frame.loc[rng.random(rows) < 0.02, "age"] = None
    return frame


def domain(**drop: str) -> rs.Domain:
    return rs.Domain(
        region=rs.Categorical(REGIONS, **drop),
        age=rs.Numeric(0, 40, bins=10, **drop),
        married=rs.Categorical(["no", "yes"], **drop),
    )


FRAME = people()
KNOWN = {"total": len(FRAME)} | {f"region = '{r}'": int((FRAME.region == r).sum()) for r in REGIONS}
IMPOSSIBLE = ["age < 16 and married = 'yes'"]
PRIVACIES = [rs.ZCDP(0.05), rs.PureDP(0.5), rs.ApproxDP(1.0, 1e-9)]


def workload(over: rs.Domain) -> rs.Workload:
    return rs.workload.marginals(over, up_to=2) + rs.workload.ranges(over, "age")


@pytest.mark.parametrize("privacy", PRIVACIES, ids=str)
def test_known_totals_are_exact_and_help(privacy: rs.privacy.Privacy) -> None:
    plain = rs.plan(workload(domain()), privacy, effort="fast")
    plan = rs.plan(workload(domain()), privacy, effort="fast", known=KNOWN, impossible=IMPOSSIBLE)
    assert plan.total_error < plain.total_error
    release = rs.release(plan, FRAME)
    for text, count in KNOWN.items():
        asked = release.ask("region is not missing or region is missing" if text == "total" else text)
        assert asked[["answer", "std_error", "low", "high"]].iloc[0].tolist() == [count, 0, count, count]
    assert release.ask(IMPOSSIBLE[0])["answer"].tolist() == [0]
    assert release.ask("married = 'yes' and age < 4")[["answer", "high"]].iloc[0].tolist() == [0, 0]
    table = release.table("region", "married", missing=True)
    assert table.answer.loc["total", "total"] == pytest.approx(len(FRAME), abs=1e-6)
    regions = table.answer["total"].loc[REGIONS]
    assert regions.to_numpy() == pytest.approx([KNOWN[f"region = '{r}'"] for r in REGIONS], abs=1e-6)
    assert "Taken as public" in release.statement
    assert "Taken as public" in str(plan)


@pytest.mark.parametrize("privacy", [rs.ZCDP(50.0), rs.PureDP(100.0)], ids=str)
def test_answers_are_those_of_pandas_at_little_noise(privacy: rs.privacy.Privacy, tmp_path: Path) -> None:
    plan = rs.plan(workload(domain()), privacy, effort="fast", known=KNOWN, impossible=IMPOSSIBLE)
    plan.save(tmp_path / "known.plan")
    same = rs.Plan.load(tmp_path / "known.plan")
    assert same.known == plan.known
    assert same.total_error == pytest.approx(plan.total_error)
    release = rs.release(same, FRAME)
    release.save(tmp_path / "known.release")
    release = rs.Release.load(tmp_path / "known.release")
    conditions = [
        "age >= 20 and married = 'yes'",
        "region = 'r1' and married = 'no'",
        "region in ('r1', 'r3')",
    ]
    found = release.ask(conditions)["answer"]
    married, region = FRAME.married, FRAME.region
    truth = [
        ((FRAME.age >= 20) & (married == "yes")).sum(),
        ((region == "r1") & (married == "no")).sum(),
        region.isin(["r1", "r3"]).sum(),
    ]
    assert found.to_numpy() == pytest.approx(truth, abs=1.5)
    whole = release.answers()
    assert whole.answer.iloc[0] == len(FRAME)
    consistent = release.consistent().answers().answer
    assert (consistent >= 0).all()
    assert consistent.iloc[0] == pytest.approx(len(FRAME))
    assert release.consistent().ask([*KNOWN][1])["answer"].iloc[0] == pytest.approx(KNOWN[[*KNOWN][1]])
    assert release.consistent().ask(IMPOSSIBLE)["answer"].tolist() == [0]


def test_every_answer_errs_no_more_than_without() -> None:
    over = domain(outside="drop")
    asked = rs.workload.marginal(over, "region", "age", "married")
    for privacy in [*PRIVACIES, rs.ZCDP(50.0, "replace-one")]:
        plain = rs.plan(asked, privacy, effort="fast")
        plan = rs.plan(asked, privacy, effort="fast", known=KNOWN)
        assert (plan.query_errors() <= plain.query_errors() * (1 + 1e-9)).all()


def test_predicted_error_is_the_error_and_intervals_cover() -> None:
    over = domain(outside="drop")
    frame = FRAME.dropna()
    known = {"total": len(frame), "region = 'r1'": int((frame.region == "r1").sum())}
    asked = rs.workload.marginal(over, "region", "married") + rs.workload.prefixes(over, "age")
    for privacy in (rs.ZCDP(0.05), rs.PureDP(0.5)):
        plan = rs.plan(asked, privacy, effort="fast", known=known, impossible=IMPOSSIBLE)
        truth = rs.release(rs.plan(asked, rs.PureDP(1000.0)), frame).answers().answer.round().to_numpy()
        runs = 200
        counts = count_cells(frame, plan.domain)
        made = [rs.release(plan, counts, random=InsecureSeededRandom(n)).answers() for n in range(runs)]
        errors = np.array([one.answer.to_numpy() - truth for one in made])
        predicted = plan.query_errors()
        noisy = predicted > 0
        # Means of 200 squares: 6 standard deviations are 0.6 for normal noise, more for Laplace.
        np.testing.assert_allclose((errors**2).mean(axis=0)[noisy] / predicted[noisy], 1, atol=0.95)
        assert (errors[:, ~noisy] == 0).all()
        covered = np.mean([(one.low <= truth) & (truth <= one.high) for one in made])
        assert 0.94 < covered < 0.975


def test_many_attributes_without_cells() -> None:
    over = rs.Domain({f"a{i}": rs.Categorical(list("abcde"), outside="drop") for i in range(14)})
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({name: rng.choice(list("abcde"), 2000) for name in over.names})
    known = {"total": 2000} | {f"a3 = '{v}'": int((frame.a3 == v).sum()) for v in "abcde"}
    nobody = "a0 = 'a' and a1 = 'a'"
    frame = frame[~((frame.a0 == "a") & (frame.a1 == "a"))]
    known = {"total": len(frame)} | {f"a3 = '{v}'": int((frame.a3 == v).sum()) for v in "abcde"}
    asked = rs.workload.marginals(over, up_to=2)
    plain = rs.plan(asked, rs.ZCDP(0.1))
    plan = rs.plan(asked, rs.ZCDP(0.1), known=known, impossible=[nobody])
    assert plan.total_error < plain.total_error
    assert plan.ratio < 1.07  # the bound gives away all that facts touch
    release = rs.release(plan, frame)
    assert release.ask([nobody, "a3 = 'b'"])["answer"].tolist() == [0, known["a3 = 'b'"]]
    rows = release.ask("SELECT a3, a5, COUNT(*) FROM t GROUP BY a3, a5").groupby("a3")["answer"].sum()
    assert rows.to_numpy() == pytest.approx([known[f"a3 = '{v}'"] for v in "abcde"], abs=1e-6)


def test_large_domains_over_cells() -> None:
    over = rs.Domain(age=rs.Numeric(0, 4096, bins=4096, outside="drop"))
    plan = rs.plan(rs.workload.ranges(over, "age"), rs.PureDP(1.0), effort="fast", known={"total": 8192})
    release = rs.release(plan, np.full(4096, 2))
    assert release.ask("age >= 0")["answer"].tolist() == [8192]
    assert release.ask("age < 2048")["std_error"].iloc[0] < 60


def test_facts_about_what_is_not_asked_say_nothing() -> None:
    asked = rs.workload.prefixes(domain(outside="drop"), "age")
    plan = rs.plan(asked, rs.ZCDP(0.1), known={"region = 'r1'": 5, "total": 9})
    assert plan.known.counts == (("total", 9.0),)


@pytest.mark.parametrize("privacy", [rs.ZCDP(0.5), rs.PureDP(1.0)], ids=str)
@pytest.mark.parametrize("known", [None, {"region = 'North'": 7}], ids=["alone", "beside a total"])
def test_impossible_conditions_without_a_known_count_of_their_attributes(
    privacy: rs.privacy.Privacy, known: dict[str, float] | None
) -> None:
    """Nothing is known of the sum over the cells that are left: the facts are no matrix with a row."""
    over = rs.Domain(
        region=rs.Categorical(["North", "South"]),
        age=rs.Numeric(0, 4, bins=2),
        sex=rs.Categorical(["F", "M"]),
    )
    frame = pd.DataFrame(
        {"region": ["North"] * 7 + ["South"] * 5, "age": [1, 3] * 6, "sex": ["F", "F", "M"] * 4}
    )
    impossible = ["age is missing or sex is missing", "age < 2 and sex = 'M'"]
    asked = rs.workload.marginal(over, "region", "age", "sex")
    plan = rs.plan(asked, privacy, effort="fast", known=known, impossible=impossible)
    assert plan.total_error < rs.plan(asked, privacy, effort="fast").total_error
    release = rs.release(plan, frame)
    answers = release.answers()
    assert answers[(answers["age"] == "[0, 2)") & (answers["sex"] == "M")]["answer"].tolist() == [0, 0]
    if known:
        # No record is in a place that is not shown, so what is shown adds up.
        assert answers[answers["region"] == "North"]["answer"].sum() == pytest.approx(7, abs=1e-9)


def test_a_count_of_zero_is_impossible() -> None:
    asked, privacy = rs.workload.marginals(domain(outside="drop"), up_to=2), rs.ZCDP(0.1)
    zero = rs.plan(asked, privacy, known={IMPOSSIBLE[0]: 0, "total": 9})
    never = rs.plan(asked, privacy, known={"total": 9}, impossible=IMPOSSIBLE)
    assert zero.total_error == pytest.approx(never.total_error)


def test_facts_about_sums() -> None:
    over = rs.Domain(
        sex=rs.Categorical(["F", "M"], outside="drop"), measures=[rs.Measure("income", 0, 100, step=1)]
    )
    frame = pd.DataFrame({"sex": ["F", "M"] * 500, "income": np.arange(1000) % 101})
    asked = rs.workload.sum(over, "income", by=("sex",)) + rs.workload.marginal(over, "sex")
    plain = rs.plan(asked, rs.ZCDP(0.5))
    plan = rs.plan(
        asked, rs.ZCDP(0.5), known={"total": 1000, "SELECT SUM(income) FROM t": int(frame.income.sum())}
    )
    assert plan.total_error < plain.total_error
    release = rs.release(plan, frame)
    assert release.ask("SELECT SUM(income) FROM t")["answer"].tolist() == [frame.income.sum()]
    shares = release.ask("SELECT sex, SUM(income) FROM t GROUP BY sex")
    assert shares["answer"].sum() == pytest.approx(frame.income.sum())
    truth = frame.groupby("sex").income.sum().to_numpy()
    assert np.abs(shares["answer"].to_numpy() - truth).max() < 8 * shares["std_error"].max()


def test_means_over_known_numbers_have_intervals_that_cover() -> None:
    over = rs.Domain(
        sex=rs.Categorical(["F", "M"], outside="drop"),
        measures=[rs.Measure("income", 0, 100, step=1)],
    )
    frame = pd.DataFrame({"sex": ["F", "M"] * 500, "income": np.arange(1000) % 101})
    known = {
        "SELECT COUNT(income) FROM t WHERE sex = 'F'": 500,
        "SELECT COUNT(income) FROM t WHERE sex = 'M'": 500,
    }
    truth = frame.groupby("sex").income.mean().to_numpy()
    for privacy in (rs.ZCDP(0.5), rs.PureDP(1.0)):
        plan = rs.plan(rs.workload.mean(over, "income", by=("sex",)), privacy, known=known)
        counts = counts_for(plan, frame, None)
        covered = []
        for _ in range(200):
            noisy = measure(plan.strategy, plan.noise, counts, parts=plan.domain.parts).answers
            found = rs.Release(plan, noisy).mean("income", "sex")
            assert (found["high"] > found["low"]).all()
            covered.append((found["low"] <= truth) & (truth <= found["high"]))
        # 400 intervals of 95 %: fewer than 342 that cover have a probability below 1e-12.
        assert np.mean(covered) > 342 / 400


def test_noise_is_for_every_record_also_impossible_ones() -> None:
    asked = rs.workload.marginals(domain(), up_to=2)
    for privacy in (rs.PureDP(0.5), rs.ZCDP(0.05)):
        plan = rs.plan(asked, privacy, effort="fast", known=KNOWN, impossible=IMPOSSIBLE)
        columns = np.abs(plan.strategy.to_dense())
        if privacy.norm == 1:
            assert columns.sum(axis=0).max() <= 0.5 * float(plan.noise.scale)
        else:
            assert (columns**2).sum(axis=0).max() / (2 * float(plan.noise.sigma_squared)) <= 0.05


BAD = [
    ({"total": -5}, (), "whole number of 0 or more"),
    ({"total": 2.5}, (), "whole number of 0 or more"),
    ({"total": float("nan")}, (), "expected a finite number, got nan"),
    ({"total": 2**41}, (), "at most 1,099,511,627,776 records"),
    ({"total": "many"}, (), "expected a number"),
    ({"total": 100, "region = 'r1'": 101}, (), "contradict"),
    ({"region = 'r1'": 60, "region = 'r2'": 60, "total": 100}, (), "contradict"),
    ({"age < 4": 10, "total": 9}, (), "contradict"),
    ({"age < 4 and married = 'yes'": 10}, ["age < 16 and married = 'yes'"], "contradict"),
    ({f"region = '{r}'": 10 for r in REGIONS} | {"total": 50}, (), "contradict"),
    ({"height > 5": 3}, (), "height"),
    ({"SELECT region, COUNT(*) FROM t GROUP BY region": 3}, (), "one query"),
    ({}, ["age < 0"], "age"),
    ({}, ["age >= 0", "age is missing"], "cover every cell of what is asked"),
    ({}, "age < 4", "list of conditions"),
    ([("total", 5)], (), "map conditions"),
    ({}, [3], "list of conditions"),
]


@pytest.mark.parametrize(("known", "impossible", "words"), BAD)
def test_bad_facts_are_one_clear_error(known: object, impossible: object, words: str) -> None:
    asked = rs.workload.marginals(domain(), up_to=2)
    with pytest.raises(RowspaceError, match=words):
        rs.plan(asked, rs.ZCDP(0.1), known=known, impossible=impossible)  # type: ignore[arg-type]


@pytest.mark.parametrize("privacy", PRIVACIES, ids=str)
def test_what_is_all_known_need_not_be_asked(privacy: rs.privacy.Privacy) -> None:
    regions = {text: count for text, count in KNOWN.items() if text != "total"}
    for asked in (rs.workload.marginal(domain(), "region"), rs.workload.predicates(domain(), [*regions][:1])):
        with pytest.raises(InvalidInput, match="nothing open"):
            rs.plan(asked, privacy, known=regions)


def test_what_does_not_go_together() -> None:
    asked = rs.workload.marginals(domain(outside="drop"), up_to=1)
    first = rs.release(rs.plan(asked, rs.ZCDP(0.1)), FRAME)
    informed = rs.release(rs.plan(asked, rs.ZCDP(0.1), known={"total": 3000}), FRAME)
    for wrong in (
        lambda: rs.plan(asked, rs.ZCDP(0.1), known={"total": 3}, given=[first]),
        lambda: rs.plan(asked, rs.ZCDP(0.1), known={"total": 3}, objective="max"),
        lambda: rs.plan(asked, rs.ZCDP(0.1), given=[informed]),
        lambda: rs.combine([first, informed]),
        lambda: informed.consistent(integral=True),
    ):
        with pytest.raises(InvalidInput, match="known"):
            wrong()


def test_plan_files_with_foreign_facts_are_refused(tmp_path: Path) -> None:
    plan = rs.plan(rs.workload.marginals(domain(), up_to=1), rs.ZCDP(0.1), known={"total": 3000})
    for known in (
        {"height > 3": 5},
        {"total": -1},
        {"total": "x"},
        {"total": 1} | {f"age < {n}": 1 for n in range(5000)},
    ):
        body, arrays = plan.encode()
        with pytest.raises(FileError, match="damaged plan"):
            rs.Plan.decode(body | {"known": known}, arrays)


STUDY = """
[study]
name = "Residents"
[privacy]
rho = 0.1
[domain.region]
type = "categorical"
categories = ["r0", "r1", "r2", "r3", "r4", "r5"]
[domain.age]
type = "numeric"
low = 0
high = 40
bins = 10
[[workload]]
marginal = ["region", "age"]
[known]
total = 3000
"region = 'r1'" = 500
impossible = ["age < 4 and region = 'r0'"]
"""


def test_studies_state_facts(tmp_path: Path) -> None:
    study = rs.Study.parse(STUDY)
    assert study.known.counts == (("total", 3000.0), ("region = 'r1'", 500.0))
    plan = rs.plan(study.workload, study.privacy, **study.wishes)
    assert plan.known == study.known
    with pytest.raises(RowspaceError, match=r"\[known\].*height"):
        rs.Study.parse(STUDY.replace("region = 'r1'", "height > 3"))
    with pytest.raises(RowspaceError, match=r"\[known\]: expected a number for 'total', got \"many\""):
        rs.Study.parse(STUDY.replace("total = 3000", 'total = "many"'))
    with pytest.raises(RowspaceError, match=r"\[known\]: expected impossible as a list"):
        rs.Study.parse(STUDY.replace("[\"age < 4 and region = 'r0'\"]", '"age < 4"'))
