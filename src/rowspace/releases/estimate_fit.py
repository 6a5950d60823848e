"""The tables of a release as estimated: what was measured, and what `reconstruct.table_estimate` makes of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from rowspace.domain import Domain, Numeric
from rowspace.exceptions import InvalidInput, TooLarge, UnsupportedWorkload
from rowspace.operators import Array, Vector
from rowspace.reconstruct import (
    EstimatedTables,
    TableFamily,
    estimated_tables,
    expected_deviations,
    largest_sets,
)
from rowspace.tables import ComponentTables, subsets_in_order
from rowspace.workload import Workload, marginals

from . import consistent_fits
from .evidence import unbiased

if TYPE_CHECKING:
    from .combined import Combined
    from .release import Release

SET_LIMIT = 20_000
"""Most tables, smaller ones that are in them included."""

Attributes = tuple[int, ...]
Models = Mapping[Sequence[str], Array]

NO_INFORMATION = 0.02
"""Where less than this share of every table of one attribute is measurement, they are said to be noise."""


@dataclass(frozen=True, eq=False)
class EstimateFit:
    """Estimates of all tables that a release has measured cell by cell.

    workload: the queries of the release. unbiased, noise: attributes → their unbiased table, variances of its cells.
    """

    workload: Workload
    estimated: EstimatedTables
    unbiased: Mapping[Attributes, Array]
    noise: Mapping[Attributes, Array]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Cells of every attribute."""
        return self.estimated.sizes

    @property
    def records(self) -> float:
        """The noisy total, at least 0."""
        return self.estimated.records

    @cached_property
    def family(self) -> TableFamily:
        """The tables that are in no other."""
        return self.estimated.family

    @property
    def largest(self) -> tuple[Attributes, ...]:
        """Their attributes."""
        return self.family.sets

    @cached_property
    def exact(self) -> ComponentTables:
        """The estimates; they agree and are not negative."""
        return self.estimated.agreeing()

    def rough(self, rows: int) -> ComponentTables:
        """The same, however few records are made of them."""
        return self.exact

    @cached_property
    def answerable(self) -> Workload | None:
        """The queries about tables that were estimated; None where there are none."""
        position = self.workload.domain.position
        own = [
            part
            for part in self.workload.parts
            if tuple(sorted(map(position, part.attributes))) in self.estimated.tables
        ]
        return Workload(self.workload.domain, own) if own else None

    @property
    def complete(self) -> bool:
        """Whether these are all queries."""
        return self.answerable is not None and len(self.answerable.parts) == len(self.workload.parts)

    @property
    def expected_share(self) -> float:
        """Expected squared error over that of the measurement, all tables together."""
        tables = self.estimated.tables
        noise = sum(float(self.noise[own].sum()) for own in self.largest)
        return sum(float(tables[own].variance.sum()) for own in self.largest) / noise if noise > 0 else 1.0

    def expected_errors(self, own: Attributes, shares: Sequence[float]) -> Vector:
        """What Σ |error| of a table will be once its noise has so many shares of its variance now."""
        freedom = prod(1 - 1 / self.sizes[i] for i in own)
        around = self.estimated.tables[own].around
        return expected_deviations(around, self.unbiased[own], self.noise[own], freedom, shares)

    @property
    def words(self) -> str:
        """How the tables were found, in words."""
        used = Counter(_kind(table.model) for own, table in self.estimated.tables.items() if own)
        around = ", ".join(f"{kind} ({number})" for kind, number in used.most_common())
        return (
            "estimated cell by cell between a model and the measurement, as far as the noisy tables themselves say, "
            f"and fitted so that all tables agree; models (tables): {around or 'none'}{self._warning}"
        )

    @property
    def _warning(self) -> str:
        single = [float(t.measured.max()) for own, t in self.estimated.tables.items() if len(own) == 1]
        if self.records <= 0:
            return "; the measured total is not above zero, so all counts are zero"
        if self.estimated.all_noise or (single and max(single) < NO_INFORMATION):
            return "; the noise hides every attribute's distribution, so the model is uniform: equal counts everywhere"
        return ""


def estimate_fit(
    release: Release | Combined, *, independent: bool = False, models: Models | None = None
) -> EstimateFit:
    """The tables of a release, estimated.

    independent: only independence, and products of smaller tables, as models.
    models: further models to try, by the names of the attributes: arrays with an axis for each.
    """
    domain = release.plan.domain
    workload = release.plan.counted
    sets = _measured_sets(release, workload)
    every = sorted(
        {below for own in sets for below in subsets_in_order(own)} | {()}, key=lambda s: (len(s), s)
    )
    _check_size(domain, sets, every)
    names = [[domain.names[i] for i in own] for own in every]
    answers, variances = unbiased(release, marginals(domain, sets=names, missing=True))
    shapes = {own: tuple(domain.shape[i] for i in own) for own in every}
    ends = np.cumsum([prod(shape) for shape in shapes.values()])[:-1]

    def by_set(flat: Vector) -> dict[Attributes, Array]:
        tables = zip(shapes.items(), np.split(flat, ends), strict=True)
        return {own: table.reshape(shape) for (own, shape), table in tables}

    y, s2 = by_set(answers), by_set(variances)
    found = estimated_tables(
        tuple(domain.shape),
        sets,
        lambda own: (y[own], s2[own]),
        names=domain.names,
        ordered=[isinstance(domain[name], Numeric) for name in domain.names],
        models=_by_position(domain, models or {}),
        independent=independent,
    )
    return EstimateFit(workload, found, y, s2)


def _measured_sets(release: Release | Combined, workload: Workload) -> list[Attributes]:
    """The sets of attributes that are asked about together and whose every cell was measured, the largest ones."""
    domain = workload.domain
    asked = {tuple(sorted(map(domain.position, part.attributes))) for part in workload.parts}
    waiting = list(largest_sets(sorted(asked, key=len, reverse=True)))
    if _is_measured(release, waiting):
        return waiting
    found: set[Attributes] = set()
    seen: set[Attributes] = set()
    while waiting:
        own = waiting.pop()
        if own in seen or any(set(own) <= set(other) for other in found):
            continue
        seen.add(own)
        if _is_measured(release, [own]):
            found.add(own)
        else:
            waiting += [own[:k] + own[k + 1 :] for k in range(len(own))]
    if not found:
        raise UnsupportedWorkload(
            "this release has measured neither its total nor a table cell by cell, so there is nothing to estimate; "
            "plan with marginals, such as rs.workload.marginals(domain, up_to=2)"
        )
    return list(largest_sets(sorted(found, key=len, reverse=True)))


def _is_measured(release: Release | Combined, sets: Sequence[Attributes]) -> bool:
    domain = release.plan.domain
    _check_size(domain, sets, sets)
    names = [[domain.names[i] for i in own] for own in sets]
    try:
        unbiased(release, marginals(domain, sets=names, missing=True))
    except UnsupportedWorkload:
        if getattr(release.plan, "given", ()):
            raise
        return False
    return True


def _check_size(domain: Domain, sets: Sequence[Attributes], every: Sequence[Attributes]) -> None:
    cells = sum(prod(domain.shape[i] for i in own) for own in sets)
    consistent_fits.check_cells(cells)
    if len(every) > SET_LIMIT:
        raise TooLarge(
            f"these are {len(every):,} tables, more than the {SET_LIMIT:,} that are estimated; use "
            'release.consistent(by="projection")'
        )


def _by_position(domain: Domain, models: Models) -> dict[Attributes, Array]:
    """Given models by the positions of their attributes, ascending."""
    found = {}
    for names, given in models.items():
        table = np.asarray(given, dtype=np.float64)
        axes = [domain.position(name) for name in names]
        shape = tuple(domain.shape[i] for i in axes)
        if (
            len(set(axes)) < len(axes)
            or table.shape != shape
            or not (np.isfinite(table) & (table >= 0)).all()
        ):
            raise InvalidInput(
                f"expected the model of {' × '.join(names)} as counts of shape {shape}, not negative, got shape "
                f"{table.shape}"
            )
        found[tuple(sorted(axes))] = table.transpose(np.argsort(axes))
    return found


def _kind(model: str) -> str:
    """A model's words without the attribute it goes through, and without what is mixed in."""
    model = model.removeprefix("mostly ")
    return (
        "independence given a third attribute" if " given " in model and "the given" not in model else model
    )
