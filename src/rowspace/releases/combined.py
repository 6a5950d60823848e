"""Several releases of one table as one: better answers, with the error bars of the whole.

Releases draw their noise independently, so together they are one measurement of all their strategies, each divided by
the standard deviation of its noise, and least squares on that is the best unbiased estimate (Gauss and Markov).

Guarantees
- Combining costs no privacy beyond what the releases have cost; `statement` says what that is together
  (by construction: this room may not import `sources`; tests/releases/test_combine.py::test_what_was_spent).
- Intervals cover the truth at least as often as stated (tests/releases/test_combine.py::test_coverage).
- A release is not counted twice as evidence (tests/releases/test_combine.py::test_refuses_the_same_release_twice).
- Counts that a discovery showed add no bias (tests/releases/test_beside_found.py::test_errors_are_as_stated).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import inf, nextafter
from typing import TYPE_CHECKING, Any

import numpy as np

from rowspace._version import __version__
from rowspace.domain import Domain
from rowspace.exceptions import InvalidInput, TooLarge
from rowspace.notebook import one_line
from rowspace.planning import check_found, population
from rowspace.privacy import ZCDP, ApproxDP, Privacy, PureDP
from rowspace.reconstruct import merged
from rowspace.workload import Workload

from .answer_columns import answer_table, largest_value, portions, read_as
from .combined_answers import Answers, BesideFound, answers_from, evidence_beside, named
from .continued import ByHorizon, horizons_of, over_all
from .discovered import Discovery
from .evidence import Evidence, as_queries, measurement_of, units_of
from .methods import DerivedAnswers, means_portion, with_means
from .release import TABLE_LIMIT, Release

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Guarantees:
    """Guarantees of releases that all hold: basic composition adds up those of one kind.

    Kinds that differ (or protect different units) are stated side by side; a ledger adds them up in one currency.

    >>> print(Guarantees((PureDP(0.5), ZCDP(0.1), PureDP(0.25))))
    0.75-differential privacy (add or remove one record) together with 0.1-zero-concentrated differential privacy (add \
or remove one record)
    """

    each: tuple[Privacy, ...]

    @property
    def sums(self) -> tuple[Privacy, ...]:
        """One guarantee for each kind, in the order of the first ones."""
        kinds: dict[tuple[object, ...], list[Privacy]] = {}
        for privacy in self.each:
            kind = type(privacy) if isinstance(privacy, PureDP | ZCDP) else ApproxDP
            kinds.setdefault((kind, privacy.neighbours, privacy.unit), []).append(privacy)
        return tuple(_sum(group) for group in kinds.values())

    def to_dict(self) -> list[dict[str, Any]]:
        """The sums, JSON-safe."""
        return [privacy.to_dict() for privacy in self.sums]

    def __str__(self) -> str:
        return " together with ".join(map(str, self.sums))


def _sum(group: Sequence[Privacy]) -> Privacy:
    """Basic composition of guarantees of one kind: their parameters add up."""
    first = group[0]
    match first:
        case PureDP():
            return replace(first, epsilon=_added(group, "epsilon"))
        case ZCDP():
            return replace(first, rho=_added(group, "rho"))
    # By whichever calibration each was reached, (ε, δ) is what it promises.
    return ApproxDP(_added(group, "epsilon"), _added(group, "delta"), first.neighbours, first.unit)


def _added(group: Sequence[Privacy], parameter: str) -> float:
    """The sum of the parameters as they are written: 0.1 and 0.2 are 0.3; no less, where no float is it."""
    total = sum(Fraction(repr(getattr(privacy, parameter))) for privacy in group)
    nearest = float(total)
    return nearest if Fraction(repr(nearest)) >= total else nextafter(nearest, inf)


@dataclass(frozen=True)
class CombinedPlan:
    """What others ask of a plan: the queries, their domain, and the guarantees of all releases together."""

    workload: Workload
    privacy: Guarantees

    @property
    def domain(self) -> Domain:
        """The attributes that were measured."""
        return self.workload.domain

    @property
    def counted(self) -> Workload:
        """The queries, which are over the cells that were counted."""
        return self.workload

    @property
    def population(self) -> str:
        """Which records some release leaves out of its answers, in words; empty where every record is counted."""
        return population(self.domain, [privacy.unit for privacy in self.privacy.each])


@dataclass(frozen=True, eq=False)
class Combined(DerivedAnswers):
    """Several releases of one table, answering together; see `combine`.

    releases: two or more, of one table and different. Where noise is nearly always zero, different ones may look the
    same: then only one object given twice is refused, and `statement` says so.
    found: discoveries whose noisy counts are taken into account too; beside them one release is enough.
    by_horizon: how to answer from horizons that follow one another, whose releases are over the periods of all.

    >>> from rowspace.sample import small_release
    >>> both = combine([small_release(0.1), small_release(0.1)])
    >>> both
    <Combined of 2: 18 answers under 0.2-differential privacy (add or remove one record)>
    """

    releases: tuple[Release, ...]
    found: tuple[Discovery, ...] = ()
    by_horizon: ByHorizon | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "releases", tuple(self.releases))
        if not self.releases or len(self.releases) + len(self.found) < 2:
            raise InvalidInput(f"expected two or more releases to combine, got {len(self.releases)}")
        for release in self.releases:
            if not isinstance(release, Release):
                raise InvalidInput(f"expected releases to combine, got {type(release).__name__}")
        for number, release in enumerate(self.releases):
            if release.plan.known:
                raise InvalidInput("expected releases without known facts to combine: each keeps to its own")
            _check_same_domain(self.releases[0].plan.domain, release.plan.domain)
            before = self.releases[:number]
            if any(
                release is other or (_same(release, other) and not _may_coincide(release)) for other in before
            ):
                raise InvalidInput(
                    "combining a release with itself: the same noisy answers twice are no new evidence; "
                    "give each release once"
                )
        privacies = [release.plan.privacy for release in self.releases]
        check_found(self.found, self.releases[0].plan.domain, [privacy.unit for privacy in privacies])

    @cached_property
    def plan(self) -> CombinedPlan:
        """The queries of all releases, those of equal workloads once."""
        workloads: list[Workload] = []
        for release in self.releases:
            if release.plan.counted not in workloads:
                workloads.append(release.plan.counted)
        parts = [part for workload in workloads for part in workload.parts]
        joint = workloads[0] if len(workloads) == 1 else Workload(workloads[0].domain, parts)
        each: list[Release | Discovery] = [*self.releases, *self.found]
        return CombinedPlan(joint, Guarantees(tuple(own.plan.privacy for own in each)))

    @property
    def evidence(self) -> Evidence:
        """All measurements, those of one strategy averaged."""
        return self._evidence[0]

    @cached_property
    def _evidence(self) -> tuple[Evidence, Evidence]:
        """What is answered from, and what errors are stated by."""
        alone = Evidence(self.plan.workload, tuple(merged([measurement_of(r) for r in self.releases])))
        return evidence_beside(alone, self.found) if self.found else (alone, alone)

    @cached_property
    def _answers(self) -> Answers:
        """How answers are found: exactly where one strategy, like tables or few cells allow it, else query by query."""
        if self.by_horizon is not None:
            return self.by_horizon
        answers, errors = map(answers_from, self._evidence)
        return BesideFound(answers, errors) if self.found else answers

    @property
    def method(self) -> str:
        """How the answers were found, in words."""
        return self._answers.method

    def answers(self, level: float = 0.95) -> pd.DataFrame:
        """The answers to the queries of all releases: labels, answer, std_error and an interval at `level`.

        >>> from rowspace.sample import small_release
        >>> both = combine([small_release(0.1), small_release(0.1)])
        >>> len(both.answers(level=0.9))
        18
        """
        return with_means(self, self.plan.workload, self._table(self.plan.workload, level), level)

    def ask(self, queries: Workload | str | Sequence[str], level: float = 0.95) -> pd.DataFrame:
        """Answers to other queries over the same attributes, for free; predicates may be given as text.

        queries: a workload, or one or several texts.
        level: the confidence level of the intervals.

        >>> from rowspace.sample import small_release
        >>> both = combine([small_release(0.1), small_release(0.1)])
        >>> both.ask("age >= 2").columns.tolist()
        ['group', 'age', 'answer', 'std_error', 'low', 'high']
        """
        within = as_queries(self.plan.domain, queries, units_of(self))
        return with_means(self, within, self._table(within, level), level)

    def stream(self, rows: int = 2**18, level: float = 0.95) -> Iterator[pd.DataFrame]:
        """The answers to the queries of all releases in portions of about so many rows; see `Release.stream`.

        rows: about how many at a time.
        level: the confidence level of the intervals.

        >>> from rowspace.sample import small_release
        >>> both = combine([small_release(0.1), small_release(0.1)])
        >>> sum(len(portion) for portion in both.stream(rows=10))
        18
        """
        for portion in portions(self.plan.workload, rows):
            yield self._table(portion, level, self.plan.workload.columns)
        yield from means_portion(self, self.plan.workload, level)

    def _table(
        self, queries: Workload, level: float, attributes: Sequence[str] | None = None
    ) -> pd.DataFrame:
        if queries.size > TABLE_LIMIT:
            raise TooLarge(
                f"a table of {queries.size:,} answers exceeds {TABLE_LIMIT:,} rows; ask for a part of the workload"
            )
        largest_count = max(release.largest_count for release in self.releases)
        columns = self._answers.table(queries, level)
        largest = largest_count * largest_value(queries)
        return answer_table(queries, columns, largest, self, level, attributes)

    @property
    def spent(self) -> tuple[Privacy, ...]:
        """What all releases together have cost: the sum for each kind of guarantee."""
        return self.plan.privacy.sums

    @property
    def statement(self) -> str:
        """What was promised and how to read the numbers, in plain words."""
        same = _SAME if self._look_the_same else ""
        return combined_statement(self.made_of, self.plan, self.method) + same

    @property
    def made_of(self) -> str:
        """How many releases and discoveries these are, in words."""
        return f"{len(self.releases)} release{'s' * (len(self.releases) > 1)}{named(self.found)}"

    @property
    def _look_the_same(self) -> bool:
        """Whether two releases have the same answers, as only those with hardly any noise may."""
        return any(_same(one, other) for one, other in combinations(self.releases, 2))

    def __repr__(self) -> str:
        size = self.plan.workload.size
        number = len(self.releases) + len(self.found)
        return one_line(f"<Combined of {number}: {size:,} answers under {self.plan.privacy}>")

    def __str__(self) -> str:
        return f"Combined release of {self.plan.workload.size:,} answers\n  {self.statement}"


def combined_statement(what: str, plan: CombinedPlan, method: str) -> str:
    """What releases together have promised, and how to read what is made of them. what: how many of them."""
    return (
        f"{what} combined by rowspace {__version__}, under {plan.privacy}, {method}. "
        f"{read_as(plan.population, domain=plan.domain)} Combining and any further computation cost no privacy."
    )


_SAME = (
    " Two of the releases have the same answers, as two with so little noise may: if they are one release, it is "
    "counted twice, and the errors are understated."
)


def combine(releases: Iterable[Release | Combined | Discovery]) -> Combined:
    """Several releases of the same table as one, by generalized least squares: each counts by how precise it is.

    releases: two or more, or combinations of them; or releases and what `rs.discover` found of the same records, whose
    counts then need not be paid for again; or instalments of horizons that follow one another, the earliest first,
    whose periods then are one series.

    They must be about the same attributes, declared alike, and differ: a release is no new evidence about itself.
    That they count the same records is for the caller to know; nothing in a release can tell.

    >>> import rowspace as rs
    >>> domain = rs.Domain(age=rs.Numeric(0, 4, bins=4))
    >>> plan = rs.plan(rs.workload.ranges(domain, "age"), rs.PureDP(0.5))
    >>> both = combine([rs.release(plan, [10, 20, 30, 40]), rs.release(plan, [10, 20, 30, 40])])
    >>> print(both.spent[0])
    1-differential privacy (add or remove one record)
    """
    if isinstance(releases, (str, Release, Combined)) or not isinstance(releases, Iterable):
        raise InvalidInput(f"expected a list of releases to combine, got {type(releases).__name__}")
    found: list[Release] = []
    discoveries: list[Discovery] = []
    for release in releases:
        if isinstance(release, Combined):
            found.extend(release.by_horizon.releases if release.by_horizon else release.releases)
            discoveries.extend(release.found)
        elif isinstance(release, Release):
            found.append(release)
        elif isinstance(release, Discovery):
            discoveries.append(release)
        else:
            raise InvalidInput(f"expected releases to combine, got {type(release).__name__}")
    following = None if discoveries else horizons_of(found)
    if following is None:
        return Combined(tuple(found), tuple(discoveries))
    domain, horizons = following
    spread = [Release(over_all(own.plan, domain, first), own.noisy_answers) for own, first in horizons]
    return Combined(tuple(spread), by_horizon=ByHorizon(horizons, found[0].plan.over))


def _check_same_domain(one: Domain, other: Domain) -> None:
    if one == other:
        return
    shared = [name for name in one.names if name in other and one[name] != other[name]]
    apart = [*(name for name in one.names if name not in other), *(n for n in other.names if n not in one)]
    if shared:
        why = f"they declare {', '.join(map(repr, shared))} differently"
    elif apart:
        why = f"only some are about {', '.join(map(repr, apart))}"
    else:
        why = "their attributes are in another order"
    raise InvalidInput(
        f"combining releases of different domains: {why}; plan them from one Domain, with queries about the same "
        "attributes"
    )


def _same(a: Release, b: Release) -> bool:
    return (
        a.plan.noise == b.plan.noise
        and np.array_equal(a.noisy_answers, b.noisy_answers)
        and a.plan.strategy == b.plan.strategy
    )


def _may_coincide(release: Release) -> bool:
    """Whether another release by the same plan has the same answers with probability 1/2 or more.

    A whole number's noise is not 0 with probability at most its variance, by Markov's inequality for its square. So all
    noise of two releases of m answers is 0 with probability at least 1 − 2m·variance.
    """
    return 2 * len(release.noisy_answers) * release.plan.noise.variance <= 0.5
