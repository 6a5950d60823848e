"""plan(given=…): the strategy that is best together with what has been released already. Data-blind.

Of earlier releases only their strategies and their noise are looked at, which are public; not their answers.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import numpy as np

from rowspace.domain import Domain
from rowspace.exceptions import InvalidInput, RowspaceError, TooLarge, UnsupportedWorkload
from rowspace.operators import DECOMPOSITION_LIMIT
from rowspace.privacy import Privacy
from rowspace.strategy import (
    AgainstEvidence,
    AgainstTables,
    Measured,
    Pooled,
    Result,
    Select,
    stacked,
    to_integers,
)
from rowspace.threads import one_thread_if_small
from rowspace.workload import Workload

from .candidate import Candidate
from .plan import Plan

SEARCHED_CELLS = {"fast": 512, "normal": 1024, "best": DECOMPOSITION_LIMIT // 2}
"""Most cells over which the best strategy beside the evidence is searched for, by effort."""

OPTIMAL = 1 + 1e-6
"""Certified ratio at which nothing else is tried."""

MOST_CELLS = 2**62
"""Stands for all larger numbers of cells."""

BLIND = 3
"""How many of the strategies that are best without evidence are judged together with it."""


def plan_against(
    workload: Workload, privacy: Privacy, given: Any, select: Select, rng: np.random.Generator | None
) -> Plan:
    """The plan of least error together with earlier releases.

    Raises:
        InvalidInput: They are no releases, or of different domains, or about other attributes than the workload.
    """
    evidence, domain = evidence_of(given)
    return plan_beside(over_evidence(workload, domain), privacy, evidence, domain, select, rng)


def plan_beside(
    own: Workload,
    privacy: Privacy,
    evidence: tuple[Measured, ...],
    domain: Domain,
    select: Select,
    rng: np.random.Generator | None,
) -> Plan:
    """The same for a workload over the attributes of the evidence, which is known to be one."""
    with one_thread_if_small(min(domain.size, MOST_CELLS)):
        results, bound = _candidates(own.over(domain), privacy, evidence, select, rng)
        found: list[Plan] = []
        for result in results:
            made = _planned(own, privacy, result, evidence, domain)
            if made is not None and all(made.strategy != other.strategy for other in found):
                found.append(made)
    if not found:
        raise TooLarge(
            f"no strategy can be judged beside this evidence over {domain.size:,} cells: it is not in tables that take "
            "attributes apart alike; plan without it, or over fewer attributes"
        )
    found.sort(key=lambda made: made.total_error)
    candidates = tuple(
        Candidate(c.name, made.total_error, made.total_error / bound if bound > 0 else None, c.seconds)
        for made in found
        for c in made.candidates
    )
    best = found[0]
    return Plan(
        own, privacy, best.strategy, best.noise, bound, candidates, places=domain.places, given=evidence
    )


def _planned(
    workload: Workload, privacy: Privacy, result: Result, evidence: tuple[Measured, ...], domain: Domain
) -> Plan | None:
    """A candidate as it is asked, beside the evidence; None where it cannot be."""
    try:
        integers, noise = to_integers(result.strategy, privacy, domain.parts)
        candidate = Candidate(result.name, 0.0, None, result.seconds)
        made = Plan(
            workload, privacy, integers, noise, 0.0, (candidate,), places=domain.places, given=evidence
        )
        made.total_error  # noqa: B018 - what it is compared by, and kept
    except (RowspaceError, UnsupportedWorkload):
        return None
    return made


def _candidates(
    counted: Workload,
    privacy: Privacy,
    evidence: tuple[Measured, ...],
    select: Select,
    rng: np.random.Generator | None,
) -> tuple[list[Result], float]:
    """Strategies beside the evidence, and what none goes below together with it; tables beside tables first."""
    products, cells = counted.products(), counted.domain.size
    results: list[Result] = []
    if privacy.norm == 2:
        with suppress(UnsupportedWorkload, InvalidInput):
            results.append(AgainstTables(evidence).optimize(products, privacy))
    bound = max((result.lower_bound for result in results), default=0.0)
    if any(result.ratio < OPTIMAL for result in results):
        return results, bound
    if cells > DECOMPOSITION_LIMIT:
        with suppress(TooLarge):
            results += select.without_cells(products, privacy, rng)[:BLIND]
        return results, bound
    results += select.candidates(products, privacy, rng)[:BLIND]
    if cells <= SEARCHED_CELLS[select.effort]:
        W = counted.weighted_operator()
        searched = AgainstEvidence(stacked(evidence)).optimize(W, privacy, rng)
        return [*results, searched], max(bound, searched.lower_bound)
    return results, bound


def evidence_of(given: Any) -> tuple[tuple[Measured, ...], Domain]:
    """What releases have measured, of which some may be several combined; all of one domain."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidInput(f"expected given= to be a list of releases, got {type(given).__name__}")
    found: list[Plan] = []
    for release in given:
        for each in getattr(release, "releases", (release,)):
            own = getattr(each, "plan", None)
            if not isinstance(own, Plan):
                raise InvalidInput(
                    f"expected given= to be a list of releases, got a {type(release).__name__}"
                )
            if own.known:
                raise InvalidInput(
                    "expected given= to hold releases without known facts; release without them"
                )
            found.append(own)
    if not found:
        raise InvalidInput(
            "expected given= to hold at least one release; leave it out to plan without evidence"
        )
    if any(own.domain != found[0].domain for own in found):
        raise InvalidInput(
            "expected releases about the same attributes, declared alike; give only those of one domain"
        )
    measured = [Measured.of(each.strategy, each.noise) for each in found]
    return Pooled.of(measured).measured, found[0].domain


def over_evidence(workload: Workload, domain: Domain) -> Workload:
    """The workload over the attributes of the evidence."""
    for name in workload.attributes:
        if name not in domain or workload.domain[name] != domain[name]:
            raise InvalidInput(
                f"attribute {name!r} was not measured as declared here; the releases given have "
                f"{', '.join(domain.names)}: plan without them, or release {name!r} first"
            )
    own = workload.about(domain.without_places())
    uncounted = own.over(domain.with_places())
    unseen = (uncounted.domain.places - domain.places) - uncounted.unseen
    if unseen:
        raise InvalidInput(
            f"the releases given have not counted records whose {min(unseen)!r} is missing, which these queries are "
            "about; plan without them"
        )
    return own
