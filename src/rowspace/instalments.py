"""instalment(): one period of a plan over periods. One promise, charged once, measured and published in parts.

    count the cells so far → ask the rows of this period, add noise → keep the instalment in the ledger → hand it out

A record belongs to one period; it moves the rows of that period and of later ones, by one column of the strategy in
all. So the noise of the whole horizon, calibrated to the longest column, covers every instalment together.

**What must not change.** The rows of a period need the counts of all periods before it, so records of a released
period must stay as they were. Either the source holds everything up to now and its past is never edited: a record that
arrives late moves fewer rows than one in time, which costs no privacy, and is counted in later rows only. Or counts are
kept: with `state=` every period is counted once, when it is released; late records are left out. That file holds true
counts, those of long horizons in blocks (`operators.fading_memory`), and is as secret as the data.

Guarantees
- Only records of the period and earlier ones are counted (tests/test_instalments.py::test_later_records_are_not_read).
- With a ledger the first instalment is charged for the horizon, others cost nothing and follow in order; a period is
  drawn once, and asking for it again gives the same bytes (tests/test_instalments.py::test_a_period_is_drawn_once).
- Whatever kills the process leaves an instalment paid for and kept, or none
  (tests/test_instalments.py::test_killed_between_instalments).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import operators as op
from .domain import until_period
from .exceptions import BudgetExceeded, FileError, IntegerOverflow, InvalidInput, Superseded
from .files import read_archive, write_archive
from .measure import measure
from .mechanism import BudgetKeeper, about_source, checked, chosen_random, keeper_of
from .noise import BitSource
from .operators import blocks_before, condensed, counted, remembered
from .planning import Plan, period_labels, period_number
from .releases import Instalment, Release
from .strategy import asked_of_parts, periods_of_rows, record_limit, rows_of_period, with_memory, with_time

if TYPE_CHECKING:
    from .sources import Source

_STATE = "rowspace state"
_STATE_VERSION = 1

Counts = npt.NDArray[np.int64]


def instalment(
    plan: Plan,
    source: Source,
    *,
    period: str,
    ledger: BudgetKeeper | str | os.PathLike[str] | None = None,
    before: Instalment | None = None,
    state: str | os.PathLike[str] | None = None,
    dataset: str | None = None,
    second_budget: bool = False,
    table: str | None = None,
    random: BitSource | None = None,
) -> Instalment:
    """Measure one period of a plan over periods, and publish all answers whose periods are over.

    plan: made by `rs.plan(…, over=…)`. source: as for `release`; it holds all records up to this period, later ones are
    not read. period: the label of the period, such as "2024-03". before: the instalment of the period before; a ledger
    keeps it. state: a file of the counts so far, as secret as the data, with which the source needs to hold records of
    this period only. ledger, dataset, second_budget, table, random: as for `release`.

    >>> import rowspace as rs
    >>> domain = rs.Domain(month=rs.Dates("2024-01-01", "2025-01-01", every="month"))
    >>> plan = rs.plan(rs.workload.prefixes(domain, "month"), rs.ZCDP(0.5), over="month")
    >>> first = rs.instalment(plan, [100] * 12, period="2024-01")
    >>> second = rs.instalment(plan, [100] * 12, period="2024-02", before=first)
    >>> second.answers()["month"].tolist()
    ['2024-01', '[2024-01-01, 2024-03-01)']
    """
    own = checked(plan)
    number = period_number(own, period)
    keeper = keeper_of(ledger, dataset)
    random = chosen_random(keeper, random)
    from .ledger import plan_hash

    digest = plan_hash(own)
    if keeper is None:
        previous = _given_before(own, number, before, digest)
        counts = _counts(own, number, source, table, state, digest)
        return Instalment.of(plan, period, _measured(own, number, counts, previous, random))
    if not all(hasattr(keeper, verb) for verb in ("request", "resume")):
        raise InvalidInput(
            "expected a rowspace Ledger for instalments: it must remember the periods released"
        )
    kept = _Kept(keeper, dataset, digest)
    there = kept.instalment(number)
    if there is not None:
        return there
    previous = kept.instalment(number - 1) if number else None
    if number and previous is None:
        labels = period_labels(own)
        first = next(i for i in range(number) if kept.key_is_new(i))
        raise InvalidInput(
            f"expected the instalment of {labels[first]!r} first: periods are released in order. Nothing was released"
        )
    if before is not None and (previous is None or before.to_bytes() != previous.to_bytes()):
        raise InvalidInput(
            "expected before= to be the instalment that the ledger keeps of the period before; leave it out"
        )
    about = about_source(source, table, second_budget) if getattr(keeper, "keeps_sources", False) else {}
    try:
        if number == 0:
            keeper.check(own, dataset, **about)  # type: ignore[attr-defined]
        counts = _counts(own, number, source, table, state, digest)
        noisy = _measured(own, number, counts, previous, random)
        kept.charge(own, number, Instalment.of(own, period, noisy).to_bytes(), about)
    except (Superseded, BudgetExceeded):  # another process may have released it meanwhile
        there = kept.instalment(number)
        if there is None:
            raise
        return there
    return Instalment.of(plan, period, noisy)


class _Kept:
    """What a ledger keeps of one horizon."""

    def __init__(self, keeper: Any, dataset: str | None, digest: str) -> None:
        self._keeper, self._dataset, self._digest = keeper, dataset, digest

    def _key(self, number: int) -> str:
        return f"instalment {number} of {self._digest}"

    def key_is_new(self, number: int) -> bool:
        """Whether a period was not released."""
        return self._keeper.request(self._key(number), self._dataset) is None

    def instalment(self, number: int) -> Instalment | None:
        """The instalment of a period, byte for byte."""
        request = self._keeper.request(self._key(number), self._dataset)
        if request is None:
            return None
        found = Release.from_bytes(self._keeper.resume(request.charge))
        if not isinstance(found, Instalment) or found.number != number:
            raise FileError("damaged ledger: it keeps another release for this instalment")
        return found

    def charge(self, plan: Plan, number: int, content: bytes, about: dict[str, Any]) -> None:
        """Pay for the horizon with its first instalment, and keep each."""
        from .ledger import Request

        request = Request(self._key(number), self._digest)
        continues = self._key(number - 1) if number else None
        self._keeper.charge(plan, content, self._dataset, request=request, continues=continues, **about)


def _given_before(plan: Plan, number: int, before: Any, digest: str) -> Instalment | None:
    """The instalment of the period before, as the caller has it."""
    from .ledger import plan_hash

    labels = period_labels(plan)
    if number == 0 and before is None:
        return None
    if not isinstance(before, Instalment) or before.number != number - 1:
        what = (
            f"the instalment of {labels[number - 1]!r}, or a ledger"
            if number
            else "left out: it is the first period"
        )
        raise InvalidInput(f"expected before= to be {what}")
    if plan_hash(before.horizon) != digest:
        raise InvalidInput(
            "expected before= to be an instalment of the same plan, got one of another horizon"
        )
    return before


def _measured(
    plan: Plan, number: int, kept: Counts, previous: Instalment | None, random: BitSource | None
) -> Counts:
    """The noisy answers of this period's rows, beside those of the periods before."""
    axis, sizes, parts = plan.domain.position(plan.over), plan.domain.shape, plan.domain.parts
    triangle = with_memory(plan.strategy, sizes, axis)
    if triangle is None:
        asked = rows_of_period(plan.strategy, sizes, axis, number)
        new = measure(asked, plan.noise, np.moveaxis(kept, 0, axis).reshape(-1), random, parts=parts).answers
    else:
        before = counted(kept[:-1], number)
        if before.astype(np.float64).sum() + float(kept[-1].sum()) > parts * record_limit(
            plan.strategy, parts
        ):
            raise IntegerOverflow(
                f"expected counts of at most {parts * record_limit(plan.strategy, parts)} in all periods so far"
            )
        own = op.Fading(triangle.horizon, triangle.weights[number : number + 1])
        new = measure(
            with_time(plan.strategy, sizes, axis, own), plan.noise, kept[-1].reshape(-1), random, parts=parts
        ).answers
        others = asked_of_parts(with_time(plan.strategy, sizes, axis, op.Identity(1)), parts)
        new = new + others @ triangle.until(number + 1).past(kept[:-1]).reshape(-1)
    periods = periods_of_rows(plan.strategy, sizes, axis)
    periods = periods[periods <= number]
    noisy = np.empty(len(periods), dtype=np.int64)
    noisy[periods < number] = previous.noisy_answers if previous is not None else 0
    noisy[periods == number] = new
    return noisy


def _counts(plan: Plan, number: int, source: Any, table: str | None, state: Any, digest: str) -> Counts:
    """What a period's rows need, its own counts last: those of all periods so far, or what is remembered of them."""
    from .sources import count_cells

    axis = plan.domain.position(plan.over)
    triangle = with_memory(plan.strategy, plan.domain.shape, axis)
    unit = plan.privacy.unit
    if unit is not None and state is not None:
        raise InvalidInput(
            f"expected no state= beside a privacy unit: in which periods a {unit.column!r} is counted depends on "
            "earlier ones, so the source must hold them"
        )
    if state is None:
        cut = until_period(plan.domain, plan.over, number + 1)
        rows = _so_far(source, plan, 0, number + 1)
        counts = count_cells(rows, cut, table=table, unit=unit, over=plan.over, key=digest)
        kept = np.moveaxis(counts, axis, 0)
        if triangle is not None:
            kept = np.concatenate([remembered(kept[:-1]), kept[-1:]])
    else:
        periods, kept = _read_state(state, plan, number, digest)
        if periods == number:
            only = until_period(plan.domain, plan.over, number + 1, after=number)
            new = count_cells(_so_far(source, plan, number, number + 1), only, table=table)
            before = kept if triangle is None else condensed(kept, number)
            kept = np.concatenate([before, np.moveaxis(new, axis, 0)])
            body = {"plan": digest, "periods": number + 1}
            write_archive(state, _STATE, _STATE_VERSION, body, {"counts": kept}, secret=True)
    kept = np.ascontiguousarray(kept)
    kept.setflags(write=False)
    return kept


def _so_far(source: Any, plan: Plan, first: int, stop: int) -> Any:
    """A vector of the counts of all periods, cut to some; anything else as it is."""
    if not isinstance(source, np.ndarray | list | tuple):
        return source
    counts = np.asarray(source)
    for whole in (plan.domain, plan.domain.without_places()):
        if counts.shape in ((whole.size,), whole.shape):
            axis = whole.position(plan.over)
            return np.take(counts.reshape(whole.shape), np.arange(first, stop), axis=axis)
    return source


def _read_state(path: Any, plan: Plan, number: int, digest: str) -> tuple[int, Counts]:
    """How many periods were counted, and what is kept of them, the last one's counts last."""
    axis, sizes = plan.domain.position(plan.over), plan.domain.shape
    rest = sizes[:axis] + sizes[axis + 1 :]
    if number == 0 and not Path(path).exists():
        return 0, np.zeros((0, *rest), dtype=np.int64)
    body, arrays = read_archive(path, _STATE, _STATE_VERSION)
    counts = arrays.get("counts")
    if counts is None or counts.dtype != np.int64 or counts.shape[1:] != rest:
        raise FileError(f"damaged state: {Path(path).name} does not hold the counts of this plan's cells")
    if body.get("plan") != digest:
        raise FileError(f"{Path(path).name} is the state of another plan. Nothing was released")
    periods = body.get("periods", len(counts))  # files without it hold the counts of every period
    if periods not in (number, number + 1):
        labels = period_labels(plan)
        raise FileError(
            f"{Path(path).name} holds {periods} periods, expected those before {labels[number]!r}. Nothing was "
            "released"
        )
    triangle = with_memory(plan.strategy, sizes, axis)
    numbers = periods
    if triangle is not None and periods:
        numbers = 1 + sum(min(2, length) for _, length in blocks_before(periods - 1))
    if len(counts) != numbers:
        raise FileError(f"damaged state: {Path(path).name} does not hold what is kept of {periods} periods")
    return periods, counts
