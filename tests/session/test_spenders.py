"""What an answer may cost: what was agreed to, and what its spender may spend."""

from __future__ import annotations

from fractions import Fraction

import pytest

from rowspace.exceptions import BudgetExceeded
from rowspace.ledger import Spender
from rowspace.sample import small_session


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
