"""What releases say about the counts, in the form estimates are made from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rowspace.domain import Domain
from rowspace.exceptions import InvalidInput, InvalidWorkload, UnsupportedWorkload
from rowspace.operators import Vector
from rowspace.planning import check_people
from rowspace.privacy import Privacy, PrivacyUnit
from rowspace.reconstruct import JointTables, Measurement, joint_estimate, joint_tables
from rowspace.strategy import Measured, noisy_values
from rowspace.workload import Workload, asked, total

if TYPE_CHECKING:
    from .combined import Combined
    from .release import Release


@dataclass(frozen=True, eq=False)
class Evidence:
    """Measurements of one table, each strategy once, and the queries they were made for."""

    workload: Workload
    measurements: tuple[Measurement, ...]

    @property
    def domain(self) -> Domain:
        """The attributes that were measured."""
        return self.workload.domain

    @cached_property
    def estimate(self) -> Vector:
        """The generalized least-squares estimate of every cell."""
        return joint_estimate(self.measurements)

    @cached_property
    def tables(self) -> JointTables | None:
        """The same in tables, where all measured tables alike."""
        return joint_tables(self.measurements)


def measurement_of(release: Release) -> Measurement:
    """The noisy answers of a release in the strategy's own unit."""
    plan = release.plan
    values = noisy_values(plan.strategy, release.noisy_answers)
    return Measurement(**vars(Measured.of(plan.strategy, plan.noise)), values=values)


def promise_of(release: Release | Combined) -> str:
    """The privacy guarantee of a release, or of several together, in words."""
    return str(release.plan.privacy)


def units_of(release: Release | Combined) -> list[PrivacyUnit | None]:
    """Whose records were bounded, in each release."""
    privacy = release.plan.privacy
    return [own.unit for own in ([privacy] if isinstance(privacy, Privacy) else privacy.each)]


def as_queries(
    domain: Domain, queries: Workload | str | Sequence[str], units: Iterable[PrivacyUnit | None]
) -> Workload:
    """Queries over the cells that were counted, from a workload over its attributes or as text, conditions or SQL.

    units: whose records were bounded, in each release.

    Raises:
        InvalidWorkload: They count units, and what was counted does not tell how many there are.
        UnsupportedWorkload: They are about records that were not counted, since a value of theirs is missing.
    """
    if not isinstance(queries, Workload):
        queries = asked(domain, queries)
    for name in queries.attributes:
        if name not in domain or queries.domain[name] != domain[name]:
            raise InvalidWorkload(
                f"attribute {name!r} was not measured as declared here; this release has {', '.join(domain.names)}"
            )
    whole = queries.over(domain.with_places())
    uncounted = (whole.domain.places - domain.places) - whole.unseen
    if uncounted:
        raise UnsupportedWorkload(
            f"this release has not counted records whose {min(uncounted)!r} is missing; ask among the others, as "
            f'in "{min(uncounted)} is not missing", or plan with these queries and release again'
        )
    within = whole.over(domain)
    check_people(within, units)
    return within


def require_counts(release: Release | Combined, what: str) -> None:
    """Raise where a release has sums: what it is asked for is made of counts of whole records."""
    if release.plan.domain.measures:
        raise InvalidInput(
            f"{what} made of counts alone, and this release has sums: release its counts by themselves"
        )


def unbiased(release: Release | Combined, queries: Workload) -> tuple[Vector, Vector]:
    """The answers to queries over the release's domain and their variances; `UnsupportedWorkload` as `ask`."""
    from .release import Release

    if not isinstance(release, Release):
        answer, std_error, _ = release._answers.table(queries, 0.95)
        return answer, np.asarray(std_error) ** 2
    if release.plan.given:
        release.ask(total(release.plan.domain))
    strategy, asked_of = release.plan._asked(queries)
    variances = release.plan.noise.variance * strategy.variances(asked_of)
    return release._answer(queries), variances
