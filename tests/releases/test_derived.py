"""Derived answers: the right numbers, consistent with one another, and refusal where there is nothing to say."""

from __future__ import annotations

import html

import numpy as np
import pytest

import rowspace as rs
from rowspace.exceptions import InvalidInput, RowspaceError, TooLarge
from rowspace.noise import InsecureSeededRandom
from rowspace.releases.derived import DELTA_METHOD, FIELLER, LINEAR, difference, ratio, share
from rowspace.releases.derived_quantiles import cdf, median, quantiles
from rowspace.releases.derived_tables import table, top

DOMAIN = rs.Domain(
    age=rs.Numeric(0, 16, bins=8, outside="drop"),
    sex=rs.Categorical(["F", "M"], outside="drop"),
    region=rs.Categorical(["A", "B", "C"], levels={"zone": {"A": "N", "B": "N", "C": "S"}}, outside="drop"),
)
COUNTS = np.arange(1, 49).reshape(8, 2, 3) * 100


@pytest.fixture(scope="module")
def release():
    """Little noise, so that values can be compared with the truth."""
    plan = rs.plan(rs.workload.identity(DOMAIN), rs.PureDP(2.0), effort="fast")
    return rs.release(plan, COUNTS.ravel())


@pytest.fixture(scope="module")
def noisy():
    plan = rs.plan(rs.workload.identity(DOMAIN), rs.PureDP(0.1), effort="fast")
    return rs.release(plan, COUNTS.ravel())


def test_difference(release, noisy):
    found = difference(release, "age < 4 and sex = 'F'", "region = 'C'")
    assert found.value == pytest.approx(COUNTS[:2, 0].sum() - COUNTS[:, :, 2].sum(), abs=100)
    assert found.method == LINEAR
    # What two queries share has no noise in their difference.
    whole = difference(noisy, "age < 16", "age < 14")
    alone = noisy.ask("age >= 14").iloc[0]
    assert whole.value == pytest.approx(alone["answer"])
    assert whole.std_error == pytest.approx(alone["std_error"])
    assert difference(noisy, "age < 8", "age < 8").std_error == pytest.approx(0, abs=1e-9)


def test_ratio_and_share(release):
    found = ratio(release, "sex = 'F'", "sex = 'M'")
    assert found.value == pytest.approx(COUNTS[:, 0].sum() / COUNTS[:, 1].sum(), rel=1e-2)
    assert found.method == DELTA_METHOD
    assert found.low < found.value < found.high
    assert share(release, "sex = 'F'", of="age >= 8").value == pytest.approx(
        COUNTS[4:, 0].sum() / COUNTS[4:].sum(), rel=1e-2
    )
    assert share(release, "zone = 'N'").value == pytest.approx(
        COUNTS[:, :, :2].sum() / COUNTS.sum(), rel=1e-2
    )
    assert share(release, "age < 16").std_error == pytest.approx(0, abs=1e-9)


def test_ratio_of_a_noisy_denominator(noisy):
    plan = noisy.plan
    few = np.zeros_like(COUNTS)
    few[:, 0] = 15
    made = rs.release(plan, few.ravel())
    for _ in range(20):  # a release whose denominator happens to be distinguishable from zero
        made = rs.release(plan, few.ravel())
        row = made.ask("sex = 'F'").iloc[0]
        if row["low"] > 1:
            found = ratio(made, "sex = 'F' and age < 8", "sex = 'F'")
            assert found.method == FIELLER
            assert found.low <= found.value <= found.high
            break
    # With a seed: one in twenty intervals around nothing does not hold zero.
    barely = rs.plan(rs.workload.identity(DOMAIN), rs.PureDP(0.001))
    made = rs.release(barely, few.ravel(), random=InsecureSeededRandom(1))
    with pytest.raises(InvalidInput, match="not distinguishable from zero"):
        ratio(made, "age < 8", "sex = 'M'")


def test_cdf(release):
    found = cdf(release, "age")
    expected = COUNTS.sum(axis=(1, 2)).cumsum() / COUNTS.sum()
    np.testing.assert_allclose(found["share"], expected, atol=1e-2)
    assert found["below"].tolist() == [2, 4, 6, 8, 10, 12, 14, 16]
    assert found["share"].iloc[-1] == pytest.approx(1)
    assert found["high"].iloc[-1] == pytest.approx(1)
    wide = cdf(release, "age", simultaneous=True)
    assert (wide["high"] - wide["low"])[:-1].min() > (found["high"] - found["low"])[:-1].min()
    assert "delta method" in found.attrs["method"]


@pytest.mark.parametrize(
    "where", [None, "sex = 'F'", "age >= 4", "age >= 4 and sex = 'M'", "age < 6 or sex = 'F'"]
)
def test_quantiles(release, where):
    masked = COUNTS * (
        1 if where is None
        else rs.workload.predicates(DOMAIN, [where]).operator().to_dense().reshape(COUNTS.shape)
    )  # fmt: skip
    cumulative = np.concatenate([[0], masked.sum(axis=(1, 2)).cumsum()])
    found = quantiles(release, "age", [0.1, 0.5, 0.9], where=where)
    expected = np.interp(np.array([0.1, 0.5, 0.9]) * cumulative[-1], cumulative, np.arange(0, 18, 2))
    np.testing.assert_allclose(found["value"], expected, atol=0.2)
    assert (found["low"] <= found["value"]).all()
    assert (found["value"] <= found["high"]).all()
    assert median(release, "age", where=where).value == pytest.approx(expected[1], abs=0.2)


def test_quantiles_of_nothing():
    plan = rs.plan(rs.workload.identity(DOMAIN), rs.PureDP(0.01), effort="fast")
    empty = rs.Release(plan, -np.ones(plan.strategy.shape[0], dtype=np.int64) * 10)
    with pytest.raises(InvalidInput, match=r"noisy number of records where sex = 'F' is -"):
        quantiles(empty, "age", [0.5], where="sex = 'F'")
    with pytest.raises(InvalidInput, match="noisy number of records is -"):
        cdf(empty, "age")
    with pytest.raises(RowspaceError, match="no cell of the domain satisfies"):
        median(empty, "age", where="age < 4 and age >= 4")


def test_tables_add_up(noisy):
    found = table(noisy, "age", "sex")
    body = found.answer
    np.testing.assert_allclose(body["F"] + body["M"], body["total"])
    np.testing.assert_allclose(body.iloc[:-1].sum(), body.loc["total"])
    assert found.low.shape == found.high.shape == found.std_error.shape == body.shape == (9, 3)
    assert (found.low <= body).all().all()
    whole = noisy.ask(rs.workload.total(DOMAIN)).iloc[0]
    assert found.std_error.loc["total", "total"] == pytest.approx(whole["std_error"])
    assert body.loc["total", "total"] == pytest.approx(whole["answer"])
    one = table(noisy, "zone", where="age < 4")
    assert top(noisy, 1, "zone", where="region <> 'C'")["zone"].tolist() != []
    assert one.answer.loc["total", "count"] == pytest.approx(noisy.ask("age < 4")["answer"].iloc[0])


def test_a_table_in_either_order_is_the_same_table(release):
    """The order of the names is that of the axes, whatever the order of the domain."""
    truth = COUNTS.sum(axis=1)
    np.testing.assert_allclose(table(release, "age", "region").answer.iloc[:-1, :-1], truth, atol=100)
    np.testing.assert_allclose(table(release, "region", "age").answer.iloc[:-1, :-1], truth.T, atol=100)
    for frame in ("answer", "std_error", "low", "high"):
        there, back = (getattr(table(release, *names), frame) for names in (("age", "zone"), ("zone", "age")))
        np.testing.assert_allclose(there, back.T, rtol=1e-12)


def test_a_table_where_a_condition_couples_its_attributes(release):
    """Combinations that the condition leaves out are zero for certain; labels of which none is left are not shown."""
    where = "age < 4 and region = 'A' or age >= 14 and region = 'B'"
    found = table(release, "region", "age", where=where)
    assert found.answer.index.tolist() == ["A", "B", "total"]
    assert found.answer.columns.tolist() == ["[0, 2)", "[2, 4)", "[14, 16)", "total"]
    truth = np.zeros((2, 3))
    truth[0, :2], truth[1, 2] = COUNTS.sum(axis=1)[:2, 0], COUNTS.sum(axis=1)[7, 1]
    np.testing.assert_allclose(found.answer.iloc[:-1, :-1], truth, atol=60)
    assert found.low.loc["A", "[14, 16)"] == found.high.loc["A", "[14, 16)"] == 0
    whole = release.ask(where).iloc[0]
    assert found.std_error.loc["total", "total"] == pytest.approx(whole["std_error"])
    ranked = top(release, 9, "age", "region", where=where)
    assert ranked[["age", "region"]].to_numpy().tolist() == [
        ["[14, 16)", "B"],
        ["[2, 4)", "A"],
        ["[0, 2)", "A"],
    ]


def test_names_that_tables_use_themselves():
    """A category called total, attributes called like the figures: nothing is lost or overwritten."""
    domain = rs.Domain(
        answer=rs.Categorical(["total", "x"], outside="drop"),
        rank=rs.Categorical(["a", "b", "(total)", "total"], outside="drop"),
        low=rs.Categorical(["", "''"], outside="drop"),
    )
    counts = np.arange(1, 17).reshape(2, 4, 2) * 10
    plan = rs.plan(rs.workload.marginals(domain, up_to=3), rs.PureDP(1e6), effort="fast")
    made = rs.release(plan, counts.ravel())
    for found in (table(made, "rank", "answer").answer, made.consistent().table("rank", "answer")):
        assert found.index.tolist() == ["a", "b", "(total)", "total", "((total))"]
        assert found.columns.tolist() == ["total", "x", "(total)"]
        np.testing.assert_allclose(found.iloc[:-1, :-1], counts.sum(axis=2).T, atol=1e-6)
        assert found.iloc[-1, -1] == pytest.approx(counts.sum())
    assert made.consistent().table("low", "rank").shape == (3, 5)
    assert top(made, 2, "rank", "low")["attribute rank"].tolist() == ["total", "total"]
    other = rs.release(rs.plan(rs.workload.identity(domain), rs.ZCDP(1e9), effort="fast"), counts.ravel())
    for found in (made.answers(), made.combine(other).answers()):
        found = found[found["group"].isin(["answer", "answer × rank"])]
        both = found[(found["attribute answer"] == "x") & (found["attribute low"] == "all")]
        np.testing.assert_allclose(both["answer"], [counts[1].sum(), *counts[1].sum(axis=1)], atol=1e-6)
    assert list(made.consistent().answers().columns) == ["group", "attribute answer", "rank", "low", "answer"]


def test_top(release, noisy):
    found = top(release, 3, "age", "region")
    truth = COUNTS.sum(axis=1)
    assert found["answer"].iloc[0] == pytest.approx(truth.max(), abs=50)
    assert found["rank"].tolist() == [1, 2, 3]
    assert found["answer"].is_monotonic_decreasing
    assert found["sure"].all()
    assert len(top(noisy, 100, "region")) == 3
    assert top(release, 1, "region", where="sex = 'F'")["region"].tolist() == ["C"]


@pytest.mark.parametrize(
    "call",
    [
        lambda r: difference(r, "agee < 3", "age < 4"),
        lambda r: difference(r, 3, "age < 4"),
        lambda r: difference(r, rs.workload.ranges(DOMAIN, "age"), "age < 4"),
        lambda r: ratio(r, "age < 4", None),
        lambda r: share(r, 3),
        lambda r: quantiles(r, "sex", [0.5]),
        lambda r: quantiles(r, "height", [0.5]),
        lambda r: quantiles(r, "age", [0, 0.5]),
        lambda r: quantiles(r, "age", []),
        lambda r: quantiles(r, "age", "many"),
        lambda r: quantiles(r, "age", [0.5], level=2),
        lambda r: top(r, 0, "age"),
        lambda r: top(r, 3),
        lambda r: top(r, 3, "agee"),
        lambda r: table(r, "age", "age"),
        lambda r: table(r, "region", "zone"),
        lambda r: median(r, "age", where="age <"),
    ],
    ids=range(17),
)
def test_bad_input(release, call):
    with pytest.raises(RowspaceError):
        call(release)


def test_too_many_bins():
    domain = rs.Domain(x=rs.Numeric(0, 4096, bins=4096, outside="drop"))
    made = rs.release(
        rs.plan(rs.workload.identity(domain), rs.PureDP(1.0), effort="fast"), np.ones(4096, dtype=int)
    )
    with pytest.raises(TooLarge, match="coarser bins"):
        median(made, "x")


def test_a_median_has_no_standard_error():
    """Seen before: "standard error 1.28e+04", the width of a bin over 3.92."""
    domain = rs.Domain(gain=rs.Numeric(0, 100_000, bins=2, outside="drop"))
    made = rs.release(rs.plan(rs.workload.prefixes(domain, "gain"), rs.PureDP(1.0)), [9000, 1000])
    middle = made.median("gain")
    assert middle.std_error is None
    assert middle.to_dict()["std_error"] is None
    for text in (str(middle), middle._repr_html_()):
        assert "error" not in text
        assert "50,000" in text.replace("50000", "50,000")
    assert "standard error" in str(made.share("gain < 50000"))
    assert "std. error" in made.share("gain < 50000")._repr_html_()


def test_the_population_is_a_sentence_of_its_own():
    domain = rs.Domain(age=rs.Numeric(0, 4, bins=4, outside="drop"))
    made = rs.release(rs.plan(rs.workload.ranges(domain, "age"), rs.PureDP(1.0)), [1000, 2000, 3000, 4000])
    for found in (made.share("age < 2"), made.median("age"), made.difference("age < 2", "age >= 2")):
        assert str(found).endswith(f"). {made.plan.population}")
        assert f"{found.method}. {made.plan.population}" in html.unescape(found._repr_html_())
