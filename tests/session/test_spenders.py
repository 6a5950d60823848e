"""What an answer may cost: what was agreed to, and what its spender may spend."""

from __future__ import annotations

from fractions import Fraction

import pytest

from rowspace.exceptions import BudgetExceeded
from rowspace.ledger import Spender
from rowspace.sample import small_session
from rowspace.session.questions import goal_of


def test_no_more_than_was_agreed_to() -> None:
    with small_session() as session:
        price = session.price("age >= 2", within=5)
        for most in (0, price.amount * 0.999):
            with pytest.raises(BudgetExceeded):
                session.ask("age >= 2", within=5, most=most)
        assert session.budget.charges == 0
        assert session.ask("age >= 2", within=5, most=price.amount).cost == price.amount
        assert session.ask("age >= 2", within=5, most=0).cost == 0
        assert session.reached("age >= 2") <= 5 * (1 + 1e-9)


def test_no_more_than_a_spender_may() -> None:
    with small_session() as session:
        whole = session.price("age >= 2", within=5)
        poor = Spender("ann", Fraction(whole.amount) / 20)
        price = session.price("age >= 2", within=5, spender=poor)
        assert whole.affordable
        assert not price.affordable
        assert price.best is not None
        with pytest.raises(BudgetExceeded, match="the best that can be had"):
            session.ask("age >= 2", within=5, spender=poor)
        assert session.budget.charges == 0
        got = session.ask("age >= 2", within=price.best * 1.01, spender=poor)
        assert 0 < got.cost <= whole.amount / 20
        assert session.ledger.left_for(poor) == poor.most - session.budget.spent  # type: ignore[operator]
        assert session.ledger.history()[0].who == "analyst:ann"


def test_what_no_purchase_could_fit_is_refused_without_a_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    with small_session() as session:
        poor = Spender("ann", Fraction(1, 1000))
        monkeypatch.setattr("rowspace.session.buying.Shop.offer", lambda *_: pytest.fail("no plan is needed"))
        with pytest.raises(
            BudgetExceeded, match=r"0\.001 rho is left to spend.*at least 0\..*best that can be had"
        ):
            session.ask("age >= 2", within=5, spender=poor)
        assert session.budget.charges == 0


@pytest.mark.parametrize("within", [2.0, 5.0, 30.0, 200.0])
def test_nothing_costs_less_than_the_bound(within: float) -> None:
    queries = ["age >= 2", "age = 1 and sex = 'F'", ["age = 0", "sex = 'M'"], "age = 0 or sex = 'F'"]
    with small_session() as session:
        for query in queries:
            goal = goal_of(session._known, query, within, 0.95)
            known, left = session._look()
            half_widths = known.error_bars(goal.queries, goal.level)[1]
            bound = session._shop.at_least(goal, half_widths, float(left.spent))
            price = session.price(query, within=within)
            assert bound <= price.amount
            assert price.free or bound + float(left.spent) > 0
            session.ask(query, within=within)
