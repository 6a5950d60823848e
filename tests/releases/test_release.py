"""Releases: tables, free questions, files."""

import dataclasses
import json

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import rowspace as rs
from rowspace.exceptions import FileError, InvalidInput, InvalidWorkload, TooLarge, UnsupportedWorkload

DOMAIN = rs.Domain(
    age=rs.Numeric(0, 10, bins=10, outside="drop"),
    sex=rs.Categorical(["F", "M"], outside="drop"),
    city=rs.Categorical(["x", "y"], outside="drop"),
)
PLAN = rs.plan(rs.workload.ranges(DOMAIN, "age") + rs.workload.marginal(DOMAIN, "age", "sex"), rs.PureDP(1.0))
X = np.arange(20).reshape(10, 2) * 100


@pytest.fixture(scope="module")
def release():
    return rs.release(PLAN, X)


def test_answers_have_labels_and_error_bars(release):
    table = release.answers()
    assert list(table.columns) == ["group", "age", "sex", "answer", "std_error", "low", "high"]
    assert len(table) == 55 + 20
    assert (table.low < table.answer).all()
    assert (table.answer < table.high).all()
    assert table[["answer", "std_error"]].notna().all().all()
    wide = release.answers(level=0.99)
    assert (wide.high - wide.low >= table.high - table.low).all()


def test_answers_are_consistent(release):
    """Post-processed from one x̂: parts add up to wholes exactly (to rounding)."""
    table = release.answers()
    whole = table[(table.group == "ranges of age") & (table.age == "[0, 10)")].answer.item()
    cells = table[table.group == "age × sex"].answer.sum()
    assert whole == pytest.approx(cells)


@pytest.mark.parametrize("privacy", [rs.PureDP(1e4), rs.ZCDP(1e6)], ids=str)
@pytest.mark.parametrize(
    "queries",
    [
        5.0 * rs.workload.marginal(DOMAIN, "sex") + 0.5 * rs.workload.ranges(DOMAIN, "age"),
        3.0 * rs.workload.marginals(DOMAIN, up_to=2),
    ],
    ids=["cells", "tables"],
)
def test_weights_say_how_much_an_answer_matters_not_what_it_is(queries, privacy):
    """At hardly any noise: the true counts, by every door, whatever an answer's weight."""
    plan = rs.plan(queries, privacy)
    counts = np.arange(plan.domain.size) * 100
    made = rs.release(plan, counts)
    unweighted = plan.workload.operator()
    truth = unweighted @ counts
    assert np.abs(truth).max() > 1000
    for answers in (
        made.answers().answer,
        pd.concat(made.stream(rows=10)).answer,
        made.ask(queries).answer,
        made.ask(7.0 * queries).answer,
    ):
        np.testing.assert_allclose(answers, truth, atol=2)


def test_ask_is_free_and_agrees(release):
    asked = release.ask(["age < 10", "age < 3 and sex = 'F'", "age < 3 or sex = 'M'"])
    assert len(asked) == 3
    assert asked.answer[0] == pytest.approx(release.estimate.sum())
    workload = release.ask(rs.workload.prefixes(DOMAIN, "age"))
    assert workload.answer.iloc[-1] == pytest.approx(release.estimate.sum())
    assert release.ask("sex = 'M'").answer.item() == pytest.approx(
        release.estimate.reshape(10, 2)[:, 1].sum()
    )


def test_release_holds_no_counts(release):
    assert {f.name for f in dataclasses.fields(release)} == {"plan", "noisy_answers"}
    with pytest.raises(ValueError, match="read-only"):
        release.noisy_answers[0] = 0


def test_round_trip(release, tmp_path):
    release.save(tmp_path / "r.release")
    again = rs.Release.load(tmp_path / "r.release")
    pd.testing.assert_frame_equal(again.answers(), release.answers())
    assert again.statement == release.statement


def test_exports_carry_the_statement(release, tmp_path):
    for suffix in ("csv", "parquet", "json"):
        rs.export(release, tmp_path / f"a.{suffix}")
    csv = pd.read_csv(tmp_path / "a.csv")
    beside = json.loads((tmp_path / "a.csv-metadata.json").read_text())
    assert beside["dc:description"].startswith(release.statement)
    parquet = pq.read_table(tmp_path / "a.parquet")
    assert json.loads(parquet.schema.metadata[b"rowspace"])["statement"] == release.statement
    body = json.loads((tmp_path / "a.json").read_text())
    assert body["statement"] == release.statement
    for answers in (csv.answer, parquet.to_pandas().answer, [row["answer"] for row in body["answers"]]):
        np.testing.assert_allclose(answers, release.answers().answer)


def test_bad_questions(release, tmp_path):
    with pytest.raises(InvalidWorkload, match="city"):
        release.ask(rs.workload.marginal(DOMAIN, "city"))
    other = rs.Domain(age=rs.Numeric(0, 10, bins=5, outside="drop"))
    with pytest.raises(InvalidWorkload, match="not measured as declared"):
        release.ask(rs.workload.ranges(other, "age"))
    with pytest.raises(InvalidInput, match="level"):
        release.answers(level=95)
    with pytest.raises(InvalidInput, match="csv"):
        rs.export(release, tmp_path / "a.txt")
    with pytest.raises(InvalidInput, match="noisy answers"):
        rs.Release(PLAN, np.zeros(3))


def test_unsupported_questions_get_no_number():
    plan = rs.plan(rs.workload.total(DOMAIN.subset(["age"])), rs.PureDP(1.0))
    release = rs.release(plan, X[:, 0])
    assert not plan.strategy.full_column_rank
    with pytest.raises(UnsupportedWorkload, match="has not measured age finely enough"):
        release.ask("age < 5")


def test_a_table_that_would_not_fit_says_so():
    big = rs.Domain(age=rs.Numeric(0, 4096, bins=4096, outside="drop"))
    plan = rs.plan(rs.workload.prefixes(big, "age"), rs.PureDP(1.0), effort="fast")
    release = rs.release(plan, np.ones(4096, dtype=int))
    with pytest.raises(TooLarge, match="8,390,656 answers"):
        release.ask(rs.workload.ranges(big, "age"))


def test_damaged_release_files(release, tmp_path):
    PLAN.save(tmp_path / "p")
    with pytest.raises(FileError):
        rs.Release.load(tmp_path / "p")


def test_asking_in_sql():
    """Everywhere a release is asked, on the command line or not, a condition and SQL are the same."""
    domain = rs.Domain(
        age=rs.Numeric(0, 4, bins=4, outside="drop"), sex=rs.Categorical(["F", "M"], outside="drop")
    )
    made = rs.release(rs.plan(rs.workload.identity(domain), rs.PureDP(1.0), effort="fast"), [5] * 8)
    in_sql = "select count(*) from people where age < 2"
    assert made.ask(in_sql)["answer"].tolist() == made.ask("age < 2")["answer"].tolist()
    both = ["age < 2", "SELECT sex, COUNT(*) FROM people GROUP BY sex", "sex = 'F'"]
    for one in (made, made.consistent()):
        answers = one.ask(both)["answer"]
        assert len(answers) == 4
        assert answers[1] == pytest.approx(answers[3])
    for nothing in ([], [3], 3, None):
        with pytest.raises(InvalidWorkload, match="predicates as text"):
            made.ask(nothing)
