"""plan(given=…): the strategy that is best together with what has been released already. Data-blind.

Of earlier releases only their strategies and their noise are looked at, which are public; not their answers. Of
discoveries also which values they have shown, and, for the errors that are stated, which counts are far enough above
their threshold to be taken as they are (`found`).
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rowspace.domain import Domain
from rowspace.exceptions import InvalidInput, RowspaceError, TooLarge, UnsupportedWorkload
from rowspace.operators import DECOMPOSITION_LIMIT
from rowspace.privacy import Privacy
from rowspace.strategy import (
    CHANCE,
    AgainstEvidence,
    AgainstTables,
    Measured,
    Pooled,
    Result,
    Select,
    also_tried,
    stacked,
    to_integers,
)
from rowspace.threads import one_thread_if_small
from rowspace.workload import Workload

from .candidate import Candidate
from .found import Found, check_found, counts_of, is_found, measured_counts
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
    """The plan of least error together with earlier releases, and with what was found of the same records.

    Guarantees
    - Beside a discovery the strategy depends on which values were shown, never on their noisy counts
      (tests/planning/test_against_found.py::test_noisy_counts_choose_nothing).

    Raises:
        InvalidInput: They are no releases, or of different domains, or about other attributes than the workload.
    """
    plans, found = _split(given)
    domain = _common_domain(plans) if plans else workload.reduced().domain.with_places()
    measured = [Measured.of(each.strategy, each.noise) for each in plans]
    own = over_evidence(workload, domain)
    if not found:
        return plan_beside(own, privacy, Pooled.of(measured).measured, domain, select, rng)
    check_found(found, domain, [privacy.unit, *(each.privacy.unit for each in plans)])
    for each in found:
        over_evidence(counts_of(each, domain), domain)
    counts = [measured_counts(each, domain) for each in found]
    with_all, stated, sure = (
        Pooled.of([*measured, *more]).measured if measured or more else ()
        for more in ([all_ for all_, _ in counts], [above for _, above in counts if above is not None], [])
    )
    doubt = Doubt(stated, sure, tuple(counts_of(each, domain) for each in found))
    return plan_beside(own, privacy, with_all, domain, select, rng, doubt)


@dataclass(frozen=True)
class Doubt:
    """Where some evidence may be of no use: which, depends on noise that a strategy must not be chosen by.

    stated: what errors are stated beside. sure: what there is whatever the noise was. counts: what must follow without
    the doubtful evidence, for it to be of any use.
    """

    stated: tuple[Measured, ...]
    sure: tuple[Measured, ...]
    counts: tuple[Workload, ...]

    def judged(self, made: Plan) -> tuple[float, Plan] | None:
        """What a plan beside all evidence is compared by, and with the errors it states; None where it is of no use.

        The mean error, where only the sure evidence is of use with a `CHANCE`.
        """
        alone = replace(made, given=self.sure)
        try:
            for queries in self.counts:
                alone.error_bars(queries=queries)
            mean = (1 - CHANCE) * made.total_error + CHANCE * alone.total_error
            return mean, replace(made, given=self.stated)
        except UnsupportedWorkload:
            return None


def plan_beside(
    own: Workload,
    privacy: Privacy,
    evidence: tuple[Measured, ...],
    domain: Domain,
    select: Select,
    rng: np.random.Generator | None,
    doubt: Doubt | None = None,
) -> Plan:
    """The same for a workload over the attributes of the evidence, which is known to be one.

    doubt: which evidence may be of no use, if any.
    """
    with one_thread_if_small(min(domain.size, MOST_CELLS)):
        results, bound = _candidates(own.over(domain), privacy, evidence, select, rng, doubt)
        found: list[Plan] = []
        for result in results:
            made = _planned(own, privacy, result, evidence, domain)
            if made is not None and all(made.strategy != other.strategy for other in found):
                found.append(made)
        judged = [(made.total_error, made) for made in found]
        if doubt is not None:
            judged = [each for made in found if (each := doubt.judged(made)) is not None]
    if not judged:
        raise TooLarge(
            f"no strategy can be judged beside this evidence over {domain.size:,} cells: it is not in tables that take "
            "attributes apart alike; plan without it, or over fewer attributes"
        )
    judged.sort(key=lambda each: each[0])
    candidates = tuple(
        Candidate(c.name, made.total_error, made.total_error / bound if bound > 0 else None, c.seconds)
        for _, made in judged
        for c in made.candidates
    )
    return replace(judged[0][1], lower_bound=bound, candidates=candidates)


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
    doubt: Doubt | None,
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
    W = counted.weighted_operator()
    results += also_tried(W, privacy)
    if cells <= SEARCHED_CELLS[select.effort]:
        sure = stacked(doubt.sure) if doubt and doubt.sure else None
        search = AgainstEvidence(stacked(evidence), sure=sure, chance=CHANCE if doubt else 0.0)
        searched = search.optimize(W, privacy, rng)
        return [*results, searched], max(bound, searched.lower_bound)
    return results, bound


def evidence_of(given: Any) -> tuple[tuple[Measured, ...], Domain]:
    """What releases have measured, of which some may be several combined; all of one domain."""
    plans, found = _split(given)
    if found:
        raise InvalidInput(
            "expected given= to be a list of releases for targets: errors beside a discovery depend on its counts; use "
            "rs.plan(workload, privacy, given=…)"
        )
    measured = [Measured.of(each.strategy, each.noise) for each in plans]
    return Pooled.of(measured).measured, _common_domain(plans)


def _split(given: Any) -> tuple[list[Plan], list[Found]]:
    """The plans of releases, and discoveries; at least one of them."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidInput(f"expected given= to be a list of releases, got {type(given).__name__}")
    plans: list[Plan] = []
    found: list[Found] = []
    for release in given:
        found.extend([release] if is_found(release) else getattr(release, "found", ()))
        for each in () if is_found(release) else getattr(release, "releases", (release,)):
            own = getattr(each, "plan", None)
            if not isinstance(own, Plan):
                raise InvalidInput(
                    f"expected given= to be a list of releases, got a {type(release).__name__}"
                )
            if own.known:
                raise InvalidInput(
                    "expected given= to hold releases without known facts; release without them"
                )
            plans.append(own)
    if not plans and not found:
        raise InvalidInput(
            "expected given= to hold at least one release; leave it out to plan without evidence"
        )
    return plans, found


def _common_domain(plans: list[Plan]) -> Domain:
    if any(own.domain != plans[0].domain for own in plans):
        raise InvalidInput(
            "expected releases about the same attributes, declared alike; give only those of one domain"
        )
    return plans[0].domain


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
