"""plan(known=…, impossible=…): the best strategy beside public facts, which every answer keeps to. Data-blind."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from math import inf

import numpy as np

from rowspace.domain import Domain
from rowspace.exceptions import RowspaceError, TooLarge, UnsupportedWorkload
from rowspace.privacy import Privacy
from rowspace.strategy import (
    FEW_CELLS,
    AgainstFacts,
    Facts,
    Residual,
    Result,
    Select,
    also_tried,
    facts_bound,
    public_tables,
    to_integers,
)
from rowspace.threads import one_thread_if_small
from rowspace.workload import Workload

from .candidate import Candidate
from .facts import Known, check_consistent
from .places import without_unseen
from .plan import Plan

BLIND = 3
"""How many of the strategies that are best without facts are judged under them."""

SEARCHED_CELLS = {"fast": 64, "normal": 256, "best": 1024}
"""Most cells over which the best strategy beside the facts is searched for under Laplace noise, by effort."""

CELL_LIMIT = 10**6
"""Most cells for strategies over the cells beside facts; strategies of tables need no limit."""


def plan_informed(
    workload: Workload, privacy: Privacy, known: Known, select: Select, rng: np.random.Generator | None
) -> Plan:
    """The plan of least error beside public facts.

    Raises:
        InvalidInput: Facts contradict one another, or leave nothing open.
        TooLarge: There are too many of them, or they tie too many attributes together.
    """
    known.queries(workload.domain)  # a fact that cannot be read is an error also where it says nothing
    whole, workload = workload.domain, workload.reduced()
    relevant = known.about(whole, workload.domain)
    joined = sum(relevant.queries(workload.domain), workload)
    own = without_unseen(joined.over(joined.domain.with_places())).domain
    facts = relevant.over(own)
    check_consistent(facts)
    counted = workload.over(own)
    with one_thread_if_small(min(own.size, FEW_CELLS)):
        results, bound = _candidates(counted, facts, privacy, select, rng)
        found = [
            made
            for result in results
            if (made := _planned(workload, privacy, result, relevant, own)) is not None
        ]
    if not found:
        raise TooLarge(
            f"no strategy over {own.size:,} cells measures what the {len(relevant.counts)} known facts are about; plan "
            "without them, or with queries about fewer attributes"
        )
    found.sort(key=lambda made: made.total_error)
    bound = min(bound * privacy.least_variance, found[0].total_error)
    candidates = tuple(
        Candidate(c.name, made.total_error, made.total_error / bound if bound > 0 else None, c.seconds)
        for made in found
        for c in made.candidates
    )
    return replace(found[0], lower_bound=bound, candidates=candidates)


def _planned(workload: Workload, privacy: Privacy, result: Result, known: Known, own: Domain) -> Plan | None:
    """A candidate as it is asked, under the facts; None where it cannot be."""
    try:
        integers, noise = to_integers(result.strategy, privacy, own.parts)
        candidate = Candidate(result.name, 0.0, None, result.seconds)
        made = Plan(workload, privacy, integers, noise, 0.0, (candidate,), places=own.places, known=known)
        made.total_error  # noqa: B018 - what it is compared by, and kept
    except (RowspaceError, UnsupportedWorkload):
        return None
    return made


def _candidates(
    counted: Workload, facts: Facts, privacy: Privacy, select: Select, rng: np.random.Generator | None
) -> tuple[list[Result], float]:
    """Strategies beside the facts, and what none goes below, in the unit of E."""
    products, cells = counted.products(), counted.domain.size
    bound = facts_bound(products, facts, privacy)
    results: list[Result] = []
    if privacy.norm == 2:
        with suppress(UnsupportedWorkload, TooLarge):
            A = Residual(known=public_tables(facts)).propose(products, privacy)
            results.append(Result("residuals beside the facts", A, inf, 0.0, "closed form", 1, 0.0))
    if cells <= (FEW_CELLS if privacy.norm == 2 else SEARCHED_CELLS[select.effort]):
        searched = AgainstFacts(facts).optimize(products, privacy, rng)
        results.append(searched)
        bound = max(bound, searched.lower_bound / privacy.unit_variance)
    with suppress(TooLarge):
        if cells > CELL_LIMIT:
            results += select.without_cells(products, privacy, rng)[:BLIND]
        else:
            results += select.candidates(products, privacy, rng)[:BLIND]
            results += also_tried(counted.weighted_operator(), privacy) if cells <= FEW_CELLS else []
    return results, bound
