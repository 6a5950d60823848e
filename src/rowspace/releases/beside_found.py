"""Counts that a discovery showed, as evidence beside releases: what was paid for finding values is not paid again.

A shown count is too high on average, so least squares may not take it as it is. `error.beside_another` makes it
unbiased with the help of what the releases say about the same count, and that goes into least squares with weights that
depend on no noise. Errors are stated as if counts near the threshold, which the releases mostly carry, were not there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import scipy

from rowspace.domain import Categorical, Domain
from rowspace.error import beside_another
from rowspace.exceptions import InvalidInput, TooLarge, UnsupportedWorkload
from rowspace.operators import DECOMPOSITION_LIMIT, Sparse, Vector
from rowspace.planning import population
from rowspace.privacy import DiscreteLaplace, TruncatedLaplace
from rowspace.reconstruct import Measurement
from rowspace.strategy import Measured
from rowspace.workload import Workload
from rowspace.workload import matrix as matrix_workload

from .combined_answers import Answers, Columns, answers_from
from .evidence import Evidence, as_queries

if TYPE_CHECKING:
    from .discovered import Discovery


@dataclass(frozen=True, eq=False)
class BesideFound(Answers):
    """Answers with all shown counts, and errors without those near the threshold."""

    answers: Answers
    errors: Answers

    @property
    def method(self) -> str:  # type: ignore[override]
        """How the answers were found, in words."""
        return f"{self.answers.method}, with the counts of what was found, made unbiased"

    def error_bars(self, queries: Workload, level: float) -> tuple[Vector, Vector]:
        """Those of the measurements that errors are stated for."""
        return self.errors.error_bars(queries, level)

    def table(self, queries: Workload, level: float) -> Columns:
        """Answers from all, errors from those."""
        return self.answers.table(queries, level)[0], *self.error_bars(queries, level)


def evidence_beside(alone: Evidence, found: Sequence[Discovery]) -> tuple[Evidence, Evidence]:
    """The evidence of releases together with discoveries: to answer from, and to state errors by.

    Raises:
        UnsupportedWorkload: The releases do not tell the counts of what was found by themselves.
    """
    every, certain = list(alone.measurements), list(alone.measurements)
    answers = answers_from(alone)
    for each in found:
        queries, noise = counts_of(each, alone.domain), each.plan.threshold
        assert isinstance(noise, TruncatedLaplace)
        try:
            other = answers.table(queries, 0.95)[0]
        except UnsupportedWorkload:
            raise UnsupportedWorkload(
                f"expected releases that count the values of {' and '.join(each.plan.columns)} that were found: a "
                "count that was shown for its noise is no evidence by itself; ask for them in the plan"
            ) from None
        values, as_shown = beside_another(noise, each.plan.least, each.noisy_counts, other)
        rows = scipy.sparse.csr_array(queries.operator().to_dense())
        for where, into in ((slice(None), every), (as_shown, certain)):
            own = Measured.of(Sparse(rows[where]), DiscreteLaplace(noise.scale))
            into.append(Measurement(**vars(own), values=values[where]))
        if not as_shown.any():
            certain.pop()
    return replace(alone, measurements=tuple(every)), replace(alone, measurements=tuple(certain))


def counts_of(found: Discovery, domain: Domain) -> Workload:
    """The counts of what was found as queries over the cells of releases."""
    columns, known = found.plan.columns, domain.without_places()
    sizes = [known[name].size for name in columns]
    positions = [
        [known[name].values.index(value) for value in own]  # type: ignore[union-attr]
        for name, own in zip(columns, found.values, strict=True)
    ]
    cells = np.ravel_multi_index(tuple(np.array(own, dtype=np.intp) for own in positions), sizes)
    rows = scipy.sparse.csr_array(
        (np.ones(len(cells)), (np.arange(len(cells)), cells)), shape=(len(cells), int(np.prod(sizes)))
    )
    return as_queries(domain, matrix_workload(rows, known, *columns), ())


def check_found(found: Sequence[Discovery], domain: Domain, units: Sequence[object]) -> None:
    """Raise where counts that were found are not those of a domain's cells."""
    for each in found:
        for name, values in zip(each.plan.columns, each.values, strict=True):
            attribute: object = dict(domain.attributes).get(name)
            if not isinstance(attribute, Categorical) or not set(values) <= set(attribute.values):
                raise InvalidInput(
                    f"expected releases with the attribute {name!r} as the discovery has it in `attributes`"
                )
        if not len(each):
            raise InvalidInput("expected a discovery that found something")
        if each.plan.privacy.unit is not None or any(unit is not None for unit in units):
            raise InvalidInput(
                "expected a discovery and releases of records: of the records of a unit each chooses its own, so "
                "their counts differ"
            )
        if population(domain, []):
            raise InvalidInput(
                f"expected releases that leave out no record, as the discovery does: {population(domain, [])}"
            )
        if not isinstance(each.plan.threshold, TruncatedLaplace):
            raise InvalidInput(
                "expected a discovery with truncated Laplace noise, got one with Gaussian noise"
            )
    if found and domain.size > DECOMPOSITION_LIMIT:
        raise TooLarge(
            f"a discovery is combined with releases over at most {DECOMPOSITION_LIMIT:,} cells, got {domain.size:,}; "
            "release the values that were found beside fewer attributes"
        )
    if any(one == other for k, one in enumerate(found) for other in found[:k]):
        raise InvalidInput("combining a discovery with itself: give each once")


def named(found: Sequence[Discovery]) -> str:
    """How many discoveries, in words."""
    return f" and {len(found)} {'discovery' if len(found) == 1 else 'discoveries'}" if found else ""
