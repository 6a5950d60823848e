"""What a discovery says about counts, as evidence: for `plan(given=…)` before a release, for `combine` after it.

A count was shown because its noise let it pass, so what a plan may know of it is limited. Which values were shown may
decide what is asked next: given that, noisy counts are as independent as they were, and those of `error.beside_another`
are unbiased. The noisy counts themselves may not: gains of least squares that depend on them favour noise that was
high. So a strategy is chosen as if every shown count were as precise as its noise, whatever it is; and the errors of
the plan are stated, as those of `combine` are, with the counts that are well above the threshold alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import scipy

from rowspace.domain import Categorical, Domain, Label
from rowspace.error import is_as_shown
from rowspace.exceptions import InvalidInput, TooLarge
from rowspace.operators import DECOMPOSITION_LIMIT, Sparse
from rowspace.privacy import DiscreteLaplace, TruncatedLaplace
from rowspace.strategy import Measured
from rowspace.workload import Workload
from rowspace.workload import matrix as matrix_workload

from .discovering import DiscoveryPlan
from .population import population


class Found(Protocol):
    """What was found: a `rowspace.Discovery`."""

    @property
    def plan(self) -> DiscoveryPlan:
        """What was looked for, under which promise."""

    @property
    def values(self) -> tuple[tuple[Label, ...], ...]:
        """One tuple for every column, entry i of each is key i."""

    @property
    def noisy_counts(self) -> npt.NDArray[np.int64]:
        """Of every key."""


def is_found(thing: Any) -> bool:
    """Whether it is a discovery and no release."""
    return isinstance(getattr(thing, "plan", None), DiscoveryPlan)


def counts_of(found: Found, domain: Domain) -> Workload:
    """The counts of what was found as queries over the cells of a domain."""
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
    return matrix_workload(rows, known, *columns).over(domain.with_places())


def measured_counts(found: Found, domain: Domain) -> tuple[Measured, Measured | None]:
    """What a strategy is chosen beside, and what errors are stated with; None where no count is far enough up.

    domain: with all its places, since a discovery is about all records.
    """
    noise, rows = found.plan.threshold, found_rows(counts_of(found, domain))
    assert isinstance(noise, TruncatedLaplace)
    certain = is_as_shown(noise, found.plan.least, found.noisy_counts)
    return measured_rows(rows, noise), measured_rows(rows[certain], noise) if certain.any() else None


def found_rows(counts: Workload) -> scipy.sparse.csr_array:
    """Counts of what was found as a matrix."""
    return scipy.sparse.csr_array(counts.operator().to_dense())


def measured_rows(rows: scipy.sparse.csr_array, noise: TruncatedLaplace) -> Measured:
    """Counts with the noise of a discovery, before it is truncated: with probability δ it is another."""
    return Measured.of(Sparse(rows), DiscreteLaplace(noise.scale))


def check_found(found: Sequence[Found], domain: Domain, units: Sequence[object]) -> None:
    """Raise where counts that were found are not those of a domain's cells."""
    for number, each in enumerate(found):
        for name, values in zip(each.plan.columns, each.values, strict=True):
            attribute: object = dict(domain.attributes).get(name)
            if not isinstance(attribute, Categorical) or not set(values) <= set(attribute.values):
                raise InvalidInput(f"expected the attribute {name!r} as the discovery has it in `attributes`")
        if not len(each.noisy_counts):
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
        if any(each == other for other in found[:number]):
            raise InvalidInput("combining a discovery with itself: give each once")
    if found and domain.size > DECOMPOSITION_LIMIT:
        raise TooLarge(
            f"a discovery is combined with releases over at most {DECOMPOSITION_LIMIT:,} cells, got {domain.size:,}; "
            "release the values that were found beside fewer attributes"
        )
