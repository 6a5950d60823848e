"""A session: prices, answers, what is bought, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rowspace as rs
from rowspace.exceptions import (
    BudgetExceeded,
    InvalidDomain,
    InvalidInput,
    InvalidWorkload,
    KeyReused,
    LedgerError,
    PredicateError,
    RowspaceError,
    UnsupportedWorkload,
)
from rowspace.session.knowledge import Knowledge

DOMAIN = rs.Domain(age=rs.Numeric(0, 16, bins=16, integer=True), sex=rs.Categorical(["F", "M"]))
RNG = np.random.default_rng(5)
PEOPLE = pd.DataFrame({"age": RNG.integers(0, 17, 4000), "sex": RNG.choice(["F", "M", None], 4000)})
RANGES = rs.workload.product(DOMAIN, age="ranges", sex="identity") + rs.workload.ranges(DOMAIN, "age")
BUDGETS = {
    "epsilon": (rs.PureDP(50.0), None),
    "rho": (rs.ZCDP(50.0), None),
    "gaussian": (rs.ApproxDP(30.0, 1e-6), "gaussian"),
    "concentrated": (rs.ApproxDP(30.0, 1e-6), "concentrated"),
    "basic": (rs.ApproxDP(50.0, 1e-6), "basic"),
}


@pytest.fixture(params=BUDGETS)
def ledger(request, tmp_path):
    guarantee, composition = BUDGETS[request.param]
    found = rs.Ledger(tmp_path / "budget.db")
    found.create("people", guarantee, composition=composition)
    return found


def rho_ledger(folder, rho=50.0):
    found = rs.Ledger(folder / "budget.db")
    found.create("people", rs.ZCDP(rho))
    return found


def session(ledger, **options):
    return rs.Session(DOMAIN, PEOPLE, ledger=ledger, **({"expecting": RANGES} | options))


def only_ages(ledger):
    """A smaller one, whose strategy is found at once."""
    domain = DOMAIN.subset(["age"])
    return rs.Session(domain, PEOPLE, ledger=ledger, expecting=rs.workload.ranges(domain, "age"))


def test_the_accuracy_is_met_and_what_is_known_is_free(ledger):
    own = session(ledger)
    price = own.price("age < 8 and sex = 'F'", within=60)
    assert not price.free
    assert price.affordable
    found = own.ask("age < 8 and sex = 'F'", within=60)
    low, high = found.interval
    assert (high - low) / 2 <= 60 * (1 + 1e-9)
    assert found.cost == price.amount == pytest.approx(float(ledger.budget().spent), rel=1e-12)
    again = own.ask("age < 8 and sex = 'F'", within=60)
    assert (again.cost, again.charge, again.answer) == (0.0, None, found.answer)
    assert own.price("age < 8 and sex = 'F'", within=60).free
    assert again.known_before == 1


def test_answers_are_pandas_at_tiny_noise(tmp_path):
    """Each bought by itself, then all from what was bought for what is expected."""
    known = session(rho_ledger(tmp_path, 1e9))
    known.warm(1e6)
    inside = PEOPLE[PEOPLE.age < 16]
    truths = {
        "age < 8 and sex = 'F'": ((PEOPLE.age < 8) & (PEOPLE.sex == "F")).sum(),
        "age between 3 and 5": PEOPLE.age.between(3, 5).sum(),
        "sex is missing": PEOPLE.sex.isna().sum(),
        "SELECT COUNT(*) FROM people WHERE age >= 10 OR sex = 'M'": (
            (PEOPLE.age.between(10, 15)) | (PEOPLE.sex == "M")
        ).sum(),
        "SELECT COUNT(*) FROM people": len(PEOPLE),
    }
    sure = {"within": 0.4, "level": 0.999999}
    for number, (text, truth) in enumerate(truths.items()):
        (tmp_path / str(number)).mkdir()
        bought = session(rho_ledger(tmp_path / str(number), 1e9)).ask(text, **sure)
        assert bought.cost > 0
        for found in (bought, known.ask(text)):
            assert found.answer == pytest.approx(truth, abs=0.5), text
    table = known.table("sex", "age", **sure).table
    assert np.allclose(table["answer"], inside.groupby(["age", "sex"]).size().to_numpy(), atol=0.5)
    median = known.quantiles("age", [0.5], **sure)
    assert median["low"][0] <= inside.age.median() <= median["high"][0]
    assert known.budget.charges == 1


def test_a_key_gives_the_same_quantiles(tmp_path):
    own = only_ages(rho_ledger(tmp_path))
    first = own.quantiles("age", [0.25, 0.5], within=300, key="monday")
    own.ask("age < 8", within=3)  # meanwhile more is known
    left = own.budget
    assert own.quantiles("age", [0.25, 0.5], within=300, key="monday").equals(first)
    assert not own.quantiles("age", [0.25, 0.5], within=300).equals(first)
    assert own.budget == left
    with pytest.raises(KeyReused):
        own.quantiles("age", within=200, key="monday")


def test_quantiles_that_are_none_cost_nothing(tmp_path):
    own = session(rho_ledger(tmp_path))
    for attribute, q in (("sex", [0.5]), ("height", [0.5]), ("age", [1.5]), ("age", [])):
        with pytest.raises(RowspaceError):
            own.quantiles(attribute, q, within=30)
    assert own.budget.charges == 0


def test_less_error_costs_only_what_is_missing(tmp_path):
    """Under Gaussian noise pieces cost what the whole does."""
    (tmp_path / "a").mkdir(), (tmp_path / "b").mkdir()
    own = session(rho_ledger(tmp_path / "a"))
    for within in (100, 50, 25, 20):
        own.ask("age < 8 and sex = 'F'", within=within)
    at_once = session(rho_ledger(tmp_path / "b"))
    at_once.ask("age < 8 and sex = 'F'", within=20)
    assert float(own.budget.spent) == pytest.approx(float(at_once.budget.spent), rel=0.02)


def test_a_question_unlike_those_expected_is_asked_by_itself(tmp_path):
    own = session(rho_ledger(tmp_path), expecting=rs.workload.marginal(DOMAIN, "sex"))
    found = own.ask("age < 3 and sex = 'F'", within=40)
    assert found.interval[1] - found.interval[0] <= 80 * (1 + 1e-9)
    # By itself: about (1.96/40)²/2; its answers are whole numbers, so intervals end at half ones.
    assert found.cost == pytest.approx((1.96 / 40) ** 2 / 2, rel=0.03)
    other = own.ask("age > 12 and sex = 'M'", within=40)
    assert other.interval[1] - other.interval[0] <= 80 * (1 + 1e-9)


def test_such_questions_cost_at_most_twice_the_expected_strategy(tmp_path):
    own = session(rho_ledger(tmp_path), expecting=rs.workload.identity(DOMAIN))
    whole = (1.96 / 30) ** 2 / 2 * 48  # all cells of all ages, at once
    rng = np.random.default_rng(0)
    for _ in range(60):
        low, high = sorted(rng.integers(0, 16, 2).tolist())
        own.ask(f"age between {low} and {high}", within=30)
    assert float(own.budget.spent) <= 2 * whole
    assert own.budget.charges < 30


def test_batches_are_bought_together(tmp_path):
    own = session(rho_ledger(tmp_path))
    texts = ["age < 4", "age < 8", "age < 12"]
    price = own.price(texts, within=30)
    found = own.ask(texts, within=30)
    assert found.cost == price.amount
    assert len(found.table) == 3
    assert own.budget.charges == 1
    tight = own.ask(texts, within=[30, 10, 30])
    half = (tight.table["high"] - tight.table["low"]) / 2
    assert (half <= [30 * (1 + 1e-9), 10 * (1 + 1e-9), 30 * (1 + 1e-9)]).all()


def test_warming_up_makes_questions_free(tmp_path):
    own = session(rho_ledger(tmp_path))
    left = own.warm(1.0)
    assert float(left.spent) == 1.0
    assert own.ask("age < 7", within=30).cost == 0
    assert own.ask("age < 7").table["std_error"][0] > 0  # whatever is known
    assert isinstance(own.release(), rs.Release)


def test_everything_known_is_one_release(tmp_path):
    own = session(rho_ledger(tmp_path))
    with pytest.raises(UnsupportedWorkload, match="nothing is known yet"):
        own.release()
    with pytest.raises(UnsupportedWorkload, match="nothing is known yet"):
        own.ask("age < 7")
    own.ask("age < 7", within=50)
    own.ask("age < 7", within=20)
    everything = own.release()
    assert isinstance(everything, rs.Combined)
    asked = own.ask("age < 7", within=20)
    assert everything.ask("age < 7")["answer"][0] == asked.answer
    assert everything.plan.privacy.sums[0].rho == pytest.approx(float(own.budget.spent))


def test_a_price_reads_no_data(tmp_path):
    ledger = rho_ledger(tmp_path)
    own = rs.Session(DOMAIN, tmp_path / "there is no such file.csv", ledger=ledger, expecting=RANGES)
    assert own.price("age < 3", within=10).amount > 0
    assert ledger.budget().charges == 0


def test_a_key_is_answered_once(tmp_path):
    ledger = rho_ledger(tmp_path)
    own = session(ledger)
    first = own.ask("age < 3", within=30, key="monday")
    free = own.ask("age < 3", within=50, key="tuesday")
    own.ask("age >= 2", within=5)
    for asked in (own, session(ledger), session(rs.Ledger(tmp_path / "budget.db"))):
        again = asked.ask("age < 3", within=30, key="monday")
        assert json.dumps(again.to_dict(), default=str) == json.dumps(first.to_dict(), default=str)
        assert json.dumps(asked.ask("age < 3", within=50, key="tuesday").to_dict()) == json.dumps(
            free.to_dict()
        )
    assert ledger.budget().charges == 2
    with pytest.raises(InvalidInput, match="'monday' was used for another question"):
        own.ask("age < 4", within=30, key="monday")
    with pytest.raises(InvalidInput, match="printable characters"):
        own.ask("age < 4", within=30, key="")


@pytest.mark.parametrize(
    ("guarantee", "composition"),
    [
        (rs.PureDP(0.5), None),
        (rs.ZCDP(0.01), None),
        (rs.ApproxDP(0.5, 1e-6), "gaussian"),
        (rs.ApproxDP(0.5, 1e-6), "concentrated"),
        (rs.ApproxDP(0.5, 1e-6), "basic"),
    ],
)
def test_a_budget_without_room_says_the_best_that_can_be_had(tmp_path, guarantee, composition):
    ledger = rs.Ledger(tmp_path / "budget.db")
    ledger.create("people", guarantee, composition=composition)
    own = session(ledger)
    left = ledger.budget()
    price = rf"for all that is left, [0-9.e-]+ {left.unit}, the best that can be had is ±"
    with pytest.raises(BudgetExceeded, match=price) as caught:
        own.ask("age < 3", within=1)
    assert ledger.budget().charges == 0
    best = float(str(caught.value).rsplit("±", 1)[1])
    price = own.price("age < 3", within=1)
    assert not price.affordable
    assert price.best == pytest.approx(best, rel=1e-3)
    assert "not enough" in str(price)
    # And it can be had.
    assert own.ask("age < 3", within=best * 1.02).cost > 0


def test_an_accuracy_beyond_every_budget_says_the_best_that_can_be_had(tmp_path):
    """64-bit floats solve for nothing that is much more precise than all that is known beside it."""
    domain = DOMAIN.subset(["age"])
    own = rs.Session(domain, PEOPLE, ledger=rho_ledger(tmp_path, 5.0), expecting=rs.workload.total(domain))
    own.ask("age >= 2", within=5)
    left = own.budget
    for door in (own.price, own.ask):
        with pytest.raises(BudgetExceeded, match=r"no budget is enough.*for all that is left.*±") as caught:
            door("age < 3", within=1e-9)
        best = float(str(caught.value).rsplit("±", 1)[1])
        assert own.price("age < 3", within=best * 1.02).affordable
    assert own.budget == left


def test_another_version_of_the_table_is_other_evidence(tmp_path):
    ledger = rho_ledger(tmp_path)
    first = session(ledger, version="2024")
    paid = first.ask("age < 3", within=30).cost
    assert session(ledger, version="2025").price("age < 3", within=30).amount == paid
    assert session(ledger).price("age < 3", within=30).amount == paid
    assert session(ledger, version="2025", same_as=["2024"]).price("age < 3", within=30).free
    assert session(ledger, version="2024").price("age < 3", within=30).free


def test_evidence_of_another_file_is_not_mixed_in(tmp_path):
    ledger = rho_ledger(tmp_path)
    for name in ("here.parquet", "there.parquet"):
        PEOPLE.to_parquet(tmp_path / name)

    def about(name, **options):
        return rs.Session(DOMAIN, tmp_path / f"{name}.parquet", ledger=ledger, expecting=RANGES, **options)

    paid = about("here").ask("age < 3", within=30).cost
    assert about("here").price("age < 3", within=30).free
    assert about("there").price("age < 3", within=30).amount == paid
    assert session(ledger).price("age < 3", within=30).amount == paid
    # Named versions are the caller's word that it is one table, wherever it is.
    about("here", version="2024").ask("age < 3", within=30)
    assert about("there", version="2024").price("age < 3", within=30).free


def test_evidence_of_another_unit_is_not_mixed_in():
    plan = rs.plan(rs.workload.identity(DOMAIN), rs.ZCDP(1.0, unit=rs.PrivacyUnit("who", 3)))
    charges = [(1, rs.release(plan, PEOPLE.assign(who=range(len(PEOPLE)))), "")]
    for unit, known in ((plan.privacy.unit, 1), (None, 0), (rs.PrivacyUnit("who", 2), 0)):
        found = Knowledge(DOMAIN.with_places(), unit).after(charges)
        assert (found.number, found.last) == (known, 1)


def test_evidence_of_another_domain_is_not_mixed_in(tmp_path):
    ledger = rho_ledger(tmp_path)
    session(ledger).ask("age < 3", within=30)
    wider = rs.Domain(age=rs.Numeric(0, 32, bins=32, integer=True), sex=rs.Categorical(["F", "M"]))
    assert not rs.Session(wider, PEOPLE, ledger=ledger).price("age < 3", within=30).free


def test_a_plain_release_on_the_same_budget_is_evidence(tmp_path):
    ledger = rho_ledger(tmp_path)
    plan = rs.plan(rs.workload.marginal(DOMAIN, "age", "sex") + rs.workload.total(DOMAIN), rs.ZCDP(2.0))
    rs.release(plan, PEOPLE, ledger=ledger)
    assert session(ledger).price("age < 3 and sex = 'F'", within=30).free


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda s: s.ask("age < 3", within=0), InvalidInput, "within= above zero"),
        (lambda s: s.ask("age < 3", within=-1), InvalidInput, "within= above zero"),
        (lambda s: s.ask("age < 3", within=float("nan")), InvalidInput, "within= above zero"),
        (lambda s: s.price("age < 3", within=5e-324), InvalidInput, "within= above zero .* below 1e-100"),
        (lambda s: s.ask("age < 3", within=[1, 2]), InvalidInput, "one half-width for each of 1 questions"),
        (lambda s: s.ask("age < 3", within=5, level=1.0), InvalidInput, "level strictly between 0 and 1"),
        (lambda s: s.ask("height < 3", within=5), PredicateError, "height"),
        (lambda s: s.ask(7, within=5), InvalidWorkload, "expected a workload"),
        (lambda s: s.table("height", within=5), InvalidDomain, "height"),
        (lambda s: s.warm(0), rs.RowspaceError, "rho"),
        (lambda s: s.warm(100), BudgetExceeded, "left"),
    ],
)
def test_bad_questions_cost_nothing(tmp_path, ask, error, message):
    ledger = rho_ledger(tmp_path)
    with pytest.raises(error, match=message):
        ask(session(ledger))
    assert ledger.budget().charges == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"expecting": "ranges"}, "expected expecting= to be a workload"),
        ({"expecting": rs.workload.total(rs.Domain(age=rs.Numeric(0, 3, bins=3)))}, None),
        (
            {"expecting": rs.workload.ranges(rs.Domain(age=rs.Numeric(0, 3, bins=3)), "age")},
            "about another 'age'",
        ),
        ({"version": ""}, "a version to be a name"),
        ({"same_as": "2024"}, "a list of versions"),
    ],
)
def test_bad_sessions(tmp_path, options, message):
    ledger = rho_ledger(tmp_path)
    if message is None:
        session(ledger, **options)
        return
    with pytest.raises(InvalidInput, match=message):
        session(ledger, **options)


def test_a_ledger_that_is_not_there(tmp_path):
    with pytest.raises(LedgerError, match="no ledger"):
        session(tmp_path / "none.db")
    with pytest.raises(InvalidInput, match="expected a domain"):
        rs.Session("age", PEOPLE, ledger=rho_ledger(tmp_path))


def test_a_ledger_that_is_replaced_meanwhile(tmp_path):
    own = session(rho_ledger(tmp_path))
    own.ask("age < 3", within=30)
    (tmp_path / "budget.db").unlink()
    rs.Ledger(tmp_path / "budget.db").create("others", rs.ZCDP(1.0))
    with pytest.raises(LedgerError, match="no budget for 'people'"):
        own.ask("age < 4", within=1)


def test_a_ledger_of_the_same_name_that_is_another(tmp_path):
    """Restored from before a purchase, or begun anew and charged as often: what is known is not what was paid there."""
    path = tmp_path / "budget.db"
    own = session(rho_ledger(tmp_path))
    own.ask("age < 3", within=30)
    path.unlink()
    ledger = rho_ledger(tmp_path)
    for _ in range(2):
        with pytest.raises(
            LedgerError, match=r"replaced meanwhile.*open a new session. Nothing was released"
        ):
            own.ask("age < 4", within=1)
        with pytest.raises(LedgerError, match="replaced meanwhile"):
            own.ask("age < 3", within=30)
        charged = ledger.budget().charges
        session(ledger).ask("age < 3", within=30)
        assert (charged, ledger.budget().charges) in ((0, 1), (1, 1))


def test_sessions_that_expect_different_things_share_what_they_know(tmp_path):
    """No error: what is expected decides what is bought, not what is right."""
    ledger = rho_ledger(tmp_path)
    ages = session(ledger)
    sexes = session(ledger, expecting=rs.workload.marginal(DOMAIN, "sex"))
    paid = ages.ask("sex = 'F'", within=40).cost
    assert paid > 0
    assert sexes.ask("sex = 'F'", within=40).cost == 0
    more = sexes.ask("sex = 'F'", within=20)
    assert more.cost > 0
    assert more.known_before > 0.1
    low, high = ages.ask("sex = 'F'", within=20).interval
    assert ages.ask("sex = 'F'", within=20).cost == 0
    assert high - low <= 40 * (1 + 1e-9)
    assert ledger.budget().charges == 2


@pytest.mark.parametrize(
    ("question", "error", "message"),
    [
        ("age = 40", PredicateError, "40"),
        ("sex = 'X'", PredicateError, "'X'"),
        (rs.workload.ranges(rs.Domain(age=rs.Numeric(0, 9, bins=9)), "age"), InvalidWorkload, "'age'"),
        ("SELECT COUNT(*) FROM people WHERE height > 3", rs.RowspaceError, "height"),
    ],
)
def test_questions_outside_the_domain_cost_nothing(tmp_path, question, error, message):
    ledger = rho_ledger(tmp_path)
    own = session(ledger)
    for ask in (own.ask, own.price):
        with pytest.raises(error, match=message):
            ask(question, within=5)
    assert ledger.budget().charges == 0


@given(st.lists(st.tuples(st.integers(0, 15), st.integers(0, 15), st.floats(5, 100)), min_size=1, max_size=8))
@settings(max_examples=10, deadline=None)
def test_any_stream_meets_its_accuracy_and_adds_up(tmp_path_factory, questions):
    ledger = rho_ledger(tmp_path_factory.mktemp("stream"))
    own, paid = only_ages(ledger), 0.0
    for low, high, within in questions:
        text = f"age between {min(low, high)} and {max(low, high)}"
        free = own.price(text, within=within).free
        found = own.ask(text, within=within)
        assert found.interval[1] - found.interval[0] <= 2 * within * (1 + 1e-9)
        assert (found.cost == 0) == free
        paid += found.cost
    assert paid == pytest.approx(float(ledger.budget().spent), rel=1e-9)


@pytest.mark.long
def test_intervals_cover_however_the_evidence_was_bought(tmp_path):
    """Amounts do not depend on answers here, so every interval covers at its level."""
    truth = PEOPLE.age.between(2, 9).sum()
    covered, standardized = [], []
    for number in range(60):
        folder = tmp_path / str(number)
        folder.mkdir()
        own = only_ages(rho_ledger(folder))
        own.ask("age < 5", within=60)
        own.ask("age between 3 and 14", within=30)
        row = own.ask("age between 2 and 9", within=25).table.iloc[0]
        covered.append(row["low"] <= truth <= row["high"])
        standardized.append(((row["answer"] - truth) / row["std_error"]) ** 2)
    assert np.mean(covered) >= 0.95 - 3.5 * np.sqrt(0.95 * 0.05 / 60)
    # Squares of standard normals have mean one and variance two: noise that is missing fails here, not above.
    assert abs(np.mean(standardized) - 1) <= 4 * np.sqrt(2 / 60)


@pytest.mark.parametrize("weak", [rs.PureDP(1e-6), rs.ZCDP(1e-13)])
def test_evidence_of_next_to_nothing_stands_in_no_way(tmp_path, weak):
    """Precise answers counted as no better than 10^10 times the weakest evidence, so that no budget was enough."""
    domain = DOMAIN.subset(["age"])
    ledger = rho_ledger(tmp_path) if isinstance(weak, rs.ZCDP) else rs.Ledger(tmp_path / "budget.db")
    if not isinstance(weak, rs.ZCDP):
        ledger.create("people", rs.PureDP(50.0))
    earlier = rs.plan(rs.workload.prefixes(domain, "age"), weak)
    rs.release(earlier, PEOPLE, ledger=ledger)
    own = rs.Session(domain, PEOPLE, ledger=ledger, expecting=rs.workload.marginal(domain, "age"))
    found = own.ask("age < 3", within=10)
    assert found.interval[1] - found.interval[0] <= 20 * (1 + 1e-9)
    assert found.known_before < 1e-6


def test_a_laplace_release_of_what_is_expected_is_no_plan_for_a_budget_in_rho(tmp_path):
    """A price beyond the budget was refused as a mix of noise, and epsilon was compared with rho."""
    ledger, domain = rho_ledger(tmp_path, 1.0), DOMAIN.subset(["age"])
    expected = rs.workload.marginal(domain, "age")
    earlier = rs.plan(expected, rs.PureDP(0.05), objective="max")
    rs.release(earlier, PEOPLE, ledger=ledger)
    own = rs.Session(domain, PEOPLE, ledger=ledger, expecting=expected)
    assert own.price("age = 3", within=0.01).best is not None
    # Nothing was spent on questions unlike the expected ones: they are asked by themselves.
    assert own.price("age < 9", within=60).amount < own.price("age = 3", within=20).amount
