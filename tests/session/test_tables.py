"""Tables bought in two steps: what is charged, what is chosen, that it is worth it, and bad input."""

from __future__ import annotations

import contextlib
from collections import Counter

import numpy as np
import pandas as pd
import pytest

import rowspace as rs
from rowspace.exceptions import BudgetExceeded, InvalidInput, InvalidWorkload, KeyReused
from rowspace.noise import InsecureSeededRandom
from rowspace.reconstruct.ratio_prior import expected_deviations, posterior
from rowspace.releases.estimate_fit import estimate_fit
from rowspace.session import tables as steps
from rowspace.session.purse import Purse

from .test_session import BUDGETS, DOMAIN, PEOPLE

TABLES = rs.workload.marginals(DOMAIN, up_to=2)
SIZES = {"a": 12, "b": 12, "c": 10, "d": 10, "e": 8}
WIDE = rs.Domain({name: rs.Categorical(range(n), outside="drop") for name, n in SIZES.items()})
PAIRS = rs.workload.marginals(WIDE, up_to=2)


def alike(number=3000):
    """a and b go together cell by cell, all others are independent: one table of ten needs to be measured."""
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(
        {name: rng.choice(n, number, p=rng.dirichlet(np.full(n, 2.0))) for name, n in SIZES.items()}
    )
    return frame.assign(b=(5 * frame["a"] + (rng.random(number) < 0.3)) % 12)


def opened(folder, guarantee, composition=None, **options):
    ledger = rs.Ledger(folder / "budget.db")
    ledger.create("people", guarantee, composition=composition)
    return rs.Session(options.pop("domain", DOMAIN), options.pop("source", PEOPLE), ledger=ledger)


@pytest.mark.parametrize("budget", BUDGETS)
def test_every_step_is_charged_and_all_is_spent(budget, tmp_path):
    session = opened(tmp_path, *BUDGETS[budget])
    before = session.budget.remaining
    found = session.estimate_tables(TABLES, spend=1.5)
    history = session.ledger.history()
    # Under Laplace noise pieces cost more than the whole.
    assert len(history) == session.purchases == (1 if budget in ("epsilon", "basic") else 2)
    assert float(before - session.budget.remaining) == pytest.approx(1.5, rel=1e-6)
    assert before - session.budget.remaining <= 1.5
    assert found.answers()["answer"].min() >= 0
    again = rs.Session(DOMAIN, PEOPLE, ledger=session.ledger)  # all evidence is in the ledger
    assert again.release().estimate_tables().answers().equals(found.answers())


@pytest.mark.parametrize("budget", BUDGETS)
def test_a_key_buys_tables_once(budget, tmp_path, monkeypatch):
    """Also where the first try ends between its two steps: the second pays what is missing."""
    session, calls = opened(tmp_path, *BUDGETS[budget]), []
    whole = Purse.buy

    def cut(purse, plan, *others):
        calls.append(plan)
        if len(calls) == 2:
            raise OSError("killed between the steps")
        return whole(purse, plan, *others)

    before = session.budget.remaining
    with monkeypatch.context() as patched:
        patched.setattr(Purse, "buy", cut)
        with contextlib.suppress(OSError):
            session.estimate_tables(TABLES, spend=1.5, key="monday")
    found = session.estimate_tables(TABLES, spend=1.5, key="monday")
    spent = before - session.budget.remaining
    assert float(spent) == pytest.approx(1.5, rel=1e-6)
    assert spent <= 1.5
    session.warm(0.01, key="tuesday")
    last = session.warm(0.01, key="tuesday").charges
    for again in (session, rs.Session(DOMAIN, PEOPLE, ledger=session.ledger)):
        tables = again.estimate_tables(TABLES, spend=1.5, key="monday")
        assert tables.answers().equals(found.answers())
        assert again.budget.charges == last
    for ask in (
        lambda: session.estimate_tables(TABLES, spend=1.4, key="monday"),
        lambda: session.warm(0.02, key="tuesday"),
        lambda: session.warm(1.5, key="monday"),
        lambda: session.ask("age < 3", within=30, key="monday"),
    ):
        with pytest.raises(KeyReused, match="used for another"):
            ask()
    assert session.budget.charges == last


def test_margins_first_and_then_what_the_model_misses():
    frame, whole = alike(), rs.ZCDP(0.01)
    share = steps.first_share(PAIRS, whole)
    assert 0 < share < 1
    first = steps.first_step(PAIRS, whole, rs.ZCDP(0.01 * share))
    one = steps.one_step(PAIRS, whole)
    margin, pair = (rs.workload.marginal(WIDE, *names) for names in (["a"], ["a", "b"]))

    def errors(plan, queries):
        return plan.error_bars(0.95, queries)[0].max()

    # Single attributes are measured by it as all at once would; pairs are not.
    assert errors(first, margin) < 1.35 * errors(one, margin)
    assert errors(first, pair) > 1.4 * errors(one, pair)
    bought: Counter[tuple[str, ...]] = Counter()
    for seed in (3, 4, 5):  # one draw of noise may favour another table a little
        fit = estimate_fit(rs.release(first, frame, random=InsecureSeededRandom(seed)))
        second = steps.second_step(PAIRS, fit, rs.ZCDP(0.01 * (1 - share)))
        bought.update({part.attributes: part.weight for part in second.workload.parts})
        assert errors(second, pair) < 0.8 * errors(one, pair)
    assert bought.most_common(1)[0][0] == ("a", "b")


def test_where_all_is_noise_the_second_step_is_like_the_first():
    plan = steps.first_step(PAIRS, rs.ZCDP(1e-9), rs.ZCDP(1e-10))
    fit = estimate_fit(rs.release(plan, alike(), random=InsecureSeededRandom(1)))
    second = steps.second_step(PAIRS, fit, rs.ZCDP(1e-9))
    assert second.workload.size > 0


def test_nearer_than_one_step():
    """Mean error of all pairs, four releases of fixed noise, where one table of ten carries what there is to know."""
    frame, whole = alike(), rs.ZCDP(0.01)
    share = steps.first_share(PAIRS, whole)
    truth = {
        part.attributes: np.histogramdd(
            frame[list(part.attributes)].to_numpy(), [np.arange(SIZES[n] + 1) for n in part.attributes]
        )[0]
        for part in PAIRS.parts
        if len(part.attributes) == 2
    }

    def error(release):
        found = release.estimate_tables().fit.estimated.tables
        return sum(
            np.abs(found[tuple(map(WIDE.position, names))].counts - counts).sum()
            for names, counts in truth.items()
        )

    one = two = 0.0
    for seed in range(4):
        random = InsecureSeededRandom(seed)
        one += error(rs.release(steps.one_step(PAIRS, whole), frame, random=random))
        first = rs.release(steps.first_step(PAIRS, whole, rs.ZCDP(0.01 * share)), frame, random=random)
        plan = steps.second_step(PAIRS, estimate_fit(first), rs.ZCDP(0.01 * (1 - share)))
        two += error(rs.combine([first, rs.release(plan, frame, random=random)]))
    assert two < 0.95 * one


def test_expected_deviations_are_those_that_happen():
    """What a table promises at a quarter of its noise is what a second measurement gives, within 20 %."""
    rng = np.random.default_rng(4)
    model = rng.gamma(1.0, 40.0, 900)
    truth = model * rng.gamma(0.4, 2.5, 900)
    noise = np.full(900, 400.0)
    noisy = truth + 20 * rng.standard_normal(900)
    now, then = expected_deviations(model, noisy, noise, 1.0, (1.0, 0.25))
    found = np.abs(posterior(model, noisy, noise, 1.0).mean - truth).sum()
    better = posterior(model, truth + 10 * rng.standard_normal(900), noise / 4, 1.0)
    assert now == pytest.approx(found, rel=0.2)
    assert then == pytest.approx(np.abs(better.mean - truth).sum(), rel=0.2)


def test_bad_input(tmp_path):
    session = opened(tmp_path, rs.ZCDP(1.0))
    for workload, kind in (
        (rs.workload.ranges(DOMAIN, "age"), InvalidWorkload),
        (rs.workload.marginal(DOMAIN, "age"), InvalidWorkload),
        (rs.workload.marginal(rs.Domain(x=rs.Categorical([1, 2])), "x"), InvalidWorkload),
    ):
        with pytest.raises(kind):
            session.estimate_tables(workload, spend=0.5)
    for spend in (0, -1.0, float("nan"), float("inf"), True, "all"):
        with pytest.raises(InvalidInput, match="spend="):
            session.estimate_tables(TABLES, spend=spend)
    with pytest.raises(InvalidInput, match="workload"):
        session.estimate_tables(3, spend=0.5)
    with pytest.raises(BudgetExceeded, match="nothing was released"):
        session.estimate_tables(TABLES, spend=1.1)
    assert not session.ledger.history()
    # All that is left, rounded up, is all that is left.
    session.estimate_tables(TABLES, spend=float(session.budget.remaining) * (1 + 1e-15))
    assert session.budget.remaining < 1e-9
