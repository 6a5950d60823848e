"""release(): the matrix mechanism in one short function.

    count cells or tables → ask the strategy, add noise → charge the budget, keeping the release with it → hand it out

Noise is drawn before the charge, in memory, so that one transaction can hold the charge *and* what it paid for:
a process that dies on either side of it has lost nothing and shown nothing that is not paid for.

Guarantees
- The noisy answers satisfy the plan's privacy guarantee; everything after them is post-processing
  (measure.py; tests/test_mechanism.py).
- A plan put together by hand, whose noise is not what its guarantee needs, is refused
  (tests/test_mechanism.py::test_a_plan_with_other_noise_is_refused).
- So is one with a strategy, guarantee or noise of a class of one's own
  (tests/test_mechanism.py::test_a_plan_of_own_types_is_refused), and nothing that was set on a plan of ours is used
  (tests/test_tampering.py::test_what_was_tampered_with_changes_nothing).
- With a ledger, noise comes from the secure source alone
  (tests/test_mechanism.py::test_a_charge_is_for_secure_noise).
- Nothing noisy is returned or written unless the ledger, when one is given, took the charge first
  (tests/test_mechanism.py::test_a_refused_charge_releases_nothing).
- What is charged for is what is returned (tests/test_mechanism.py::test_the_ledger_keeps_what_is_released).
- With a request's id a release is charged and drawn once: again it is the same bytes, and the id of another plan or
  source is refused (tests/ledger/test_requests.py::test_a_retry_never_pays_twice,
  ::test_an_id_stands_for_one_plan_and_one_source).
- Two releases never share noise (tests/test_mechanism.py::test_two_releases_never_share_noise).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from .exceptions import InvalidInput, TooLarge
from .measure import measure
from .noise import BitSource, SecureRandom
from .planning import Plan, checked_plan, is_known
from .releases import Release
from .retries import once
from .strategy import Strategy, calibrated_noise

if TYPE_CHECKING:
    from .sources import Source


@runtime_checkable
class BudgetKeeper(Protocol):
    """Something that keeps a privacy budget; `rowspace.ledger.Ledger` is one."""

    def charge(self, plan: Plan, content: bytes, dataset: str | None) -> object:
        """Record, durably, the cost of the plan together with the bytes of its release, or raise."""


def release(
    plan: Plan,
    source: Source,
    *,
    ledger: BudgetKeeper | str | os.PathLike[str] | None = None,
    dataset: str | None = None,
    second_budget: bool = False,
    request: str | None = None,
    table: str | None = None,
    random: BitSource | None = None,
    progress: Callable[[float], None] | None = None,
) -> Release:
    """Measure the plan's strategy on the data with noise and derive consistent answers.

    source: a CSV or Parquet path, `rs.CSV(path, …)` where more is to be said about a file, a pandas or polars frame, an
    Arrow or Ibis table, a database URL with `table=`, or a vector of counts. ledger: who keeps the budget, as a path, a
    database URL or a `Ledger` (None: nobody); dataset: which of its budgets to charge, when it has several;
    second_budget: charge it though the same source was charged to another one before. request: an id of your own for
    this release: tried again with it, the same plan and source give the same bytes and pay nothing. random: for tests
    only, without a ledger. progress: called with the share of tables counted, where there are many; it depends on no
    data.

    `BudgetExceeded` when it would cost more than remains; then nothing is released.

    >>> import rowspace as rs
    >>> domain = rs.Domain(age=rs.Numeric(0, 4, bins=4))
    >>> plan = rs.plan(rs.workload.ranges(domain, "age"), rs.PureDP(1.0))
    >>> list(rs.release(plan, [10, 20, 30, 40]).answers().columns)
    ['group', 'age', 'answer', 'std_error', 'low', 'high']
    """
    own = checked(plan)
    keeper = keeper_of(ledger, dataset)
    if plan.over and keeper is not None:
        raise InvalidInput(
            "expected rs.instalment(plan, …, period=…) for a plan over periods: released all at once it would be paid "
            "for once more. Nothing was charged"
        )
    random = chosen_random(keeper, random)
    about = about_source(source, table, second_budget) if getattr(keeper, "keeps_sources", False) else {}

    def make(**kept: Any) -> Release:
        if keeper is not None and hasattr(keeper, "check"):
            # Only to refuse before a large table is read: charge() decides.
            keeper.check(plan, dataset, **about)
        if keeper is not None:
            _require_answers(plan)
        counts = counts_for(own, source, table, progress)
        answers = measure(own.strategy, own.noise, counts, random, parts=own.domain.parts).answers
        if keeper is not None:
            # Ours are told of the copy: whoever counts or listens to progress could have changed the plan meanwhile.
            charged = own if is_known(keeper, "ledger", "cli") else plan
            keeper.charge(charged, Release(own, answers).to_bytes(), dataset, **about, **kept)
        return Release(plan, answers)

    return make() if request is None else once(make, keeper, dataset, request, own, about)


def chosen_random(keeper: BudgetKeeper | None, random: BitSource | None) -> BitSource | None:
    """Where noise comes from; with a ledger from the secure source alone."""
    if keeper is None or random is None:
        return random
    if type(random) is not SecureRandom:
        raise InvalidInput(
            "expected no random= beside ledger=: a charge is for noise that nobody can repeat; leave out random=, "
            f"or the ledger in a test, got {type(random).__name__}"
        )
    return None  # a fresh one is as good, and nobody holds it


def checked(plan: Plan) -> Plan:
    """A copy of a plan that nobody else has, with the noise that its guarantee needs."""
    own = checked_plan(plan)
    if own.noise != calibrated_noise(own.strategy, own.privacy, own.horizon):
        raise InvalidInput(
            f"expected the noise that {own.privacy} needs for this strategy, got another; a plan put together by "
            "hand takes it from Privacy.noise, and rs.plan makes plans that have it"
        )
    return own


def about_source(source: Any, table: str | None, second_budget: bool) -> dict[str, Any]:
    """What a ledger is told of the source, so that it is not charged to two budgets unawares."""
    from .sources import source_digest

    return {"source": source_digest(source, table), "second_budget": second_budget}


def _require_answers(plan: Plan) -> None:
    """Raise, before anything is charged, if the strategy cannot answer its own queries: files may hold such plans."""
    with suppress(TooLarge):  # too many to be sure about beforehand
        plan.rmse  # noqa: B018


def counts_for(
    plan: Plan, source: Source, table: str | None, progress: Callable[[float], None] | None = None
) -> Any:
    """What the strategy asks for: the tables it measures, or the count of every cell."""
    # Here, because engines take a while to import and planning needs none.
    from .sources import count_cells, count_marginals

    unit = plan.privacy.unit
    sets = Strategy.of(plan.strategy).sets
    if sets is not None:
        return count_marginals(source, plan.domain, sets, table=table, unit=unit, progress=progress)
    cells = count_cells(source, plan.domain, table=table, unit=unit, over=plan.over or None)
    cells.setflags(write=False)  # nobody else has it: it need not be copied to be checked
    return cells


def keeper_of(ledger: object, dataset: str | None) -> BudgetKeeper | None:
    """Who keeps the budget."""
    if ledger is None and dataset is not None:
        raise InvalidInput("expected ledger= beside dataset=: without a ledger nothing is charged")
    if isinstance(ledger, str | os.PathLike):
        from .ledger import Ledger  # here, because a database library takes a while to import

        return Ledger(ledger)
    if ledger is not None and not isinstance(ledger, BudgetKeeper):
        raise InvalidInput(
            "expected a ledger as a path, a database URL or something with a charge(plan, content, dataset) method, "
            f"got {type(ledger).__name__}"
        )
    return ledger
