"""Every combination of some attributes or levels, in the order they were asked for.

A workload answers in the order of its domain, whatever the order of the names. Tables never reshape answers by
themselves: they take them from here, where the order of the answers is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt
import scipy

from rowspace.domain import Domain
from rowspace.exceptions import InvalidInput
from rowspace.operators import Composed, Sparse, Vector
from rowspace.workload import Factor, Matrix, MeasureSum, Part, Workload, marginal, predicates
from rowspace.workload.sums import measured


@dataclass(frozen=True, eq=False)
class Groups:
    """A query for every combination: `labels` holds those of each name, in the order asked."""

    workload: Workload
    names: tuple[str, ...]
    labels: tuple[list[str], ...]
    answered: tuple[int, ...]
    """Which name each axis of the answers is about: the workload's order."""
    possible: npt.NDArray[np.bool_]
    """Which combinations the condition leaves, with an axis for each name in the order asked."""

    def arranged(self, answers: npt.ArrayLike) -> Vector:
        """Answers of the workload with an axis for each name, in the order asked."""
        shape = [len(self.labels[axis]) for axis in self.answered]
        return np.asarray(answers).reshape(shape).transpose(np.argsort(self.answered))

    def left(self, axis: int) -> list[int]:
        """The numbers of one name's labels that the condition leaves."""
        others = tuple(other for other in range(len(self.names)) if other != axis)
        return np.flatnonzero(self.possible.any(axis=others)).tolist()


def groups(
    domain: Domain,
    names: Sequence[str],
    where: str | None = None,
    *,
    among: Sequence[str] = (),
    missing: bool = False,
    of: str | None = None,
) -> Groups:
    """Every combination of some attributes or levels, among the records where a condition holds.

    Records whose value is missing are in no combination, or have labels of their own with `missing`; so it is with the
    attributes `among`, over whose labels the answers are summed: the totals of a larger table. of: a measure whose sums
    are asked for instead of counts.

    >>> from rowspace.domain import Categorical
    >>> domain = Domain(sex=Categorical(["F", "M"]), job=Categorical(["yes", "no", "student"]))
    >>> found = groups(domain, ["job", "sex"])
    >>> found.workload.labels(0, 2), found.arranged(range(6)).tolist()
    (['sex = F and job = yes', 'sex = F and job = no'], [[0, 3], [1, 4], [2, 5]])
    """
    everything = [*names, *among]
    attributes = [domain.resolve(name)[0] for name in everything]
    if len(set(attributes)) < len(attributes):
        raise InvalidInput(
            f"expected different attributes, got {', '.join(everything)}; name each attribute once"
        )
    keys = [marginal(domain, name, missing=missing).parts[0].factors[0] for name in everything]
    conditions = [] if where is None else list(predicates(domain, [where]).parts[0].factors)
    # Each factor of the product, the keys it answers by, and which of their combinations it leaves.
    found: list[tuple[Factor, list[int], npt.NDArray[np.bool_]]] = []
    for condition in conditions:
        own = [at for at, attribute in enumerate(attributes) if attribute in condition.attributes]
        found.append(_split(condition, own, keys))
    bound = {at for _, own, _ in found for at in own}
    found += [(key, [at], np.ones(key.size, bool)) for at, key in enumerate(keys) if at not in bound]
    found = [_summed(*item, keys, len(names)) for item in found]
    found.sort(key=lambda item: domain.position(item[0].attributes[0]))
    answered = tuple(at for _, own, _ in found for at in own)
    possible = np.ones((), bool)
    for _, _, own_possible in found:
        possible = np.multiply.outer(possible, own_possible)
    if not possible.any():
        raise InvalidInput(f"the condition leaves nothing of {', '.join(names)}; ask without it")
    counted = Part(tuple(factor for factor, _, _ in found))
    if of is not None:
        domain.measure(of)
        counted = measured(counted, MeasureSum(domain.subset([of])))
    return Groups(
        Workload(domain, [counted]),
        tuple(names),
        tuple(key.entries(np.arange(key.size)) for key in keys[: len(names)]),
        answered,
        possible.reshape([keys[at].size for at in answered]).transpose(np.argsort(answered)),
    )


def _summed(
    factor: Factor, own: list[int], possible: npt.NDArray[np.bool_], keys: Sequence[Factor], shown: int
) -> tuple[Factor, list[int], npt.NDArray[np.bool_]]:
    """A factor summed over the keys that are not shown: those numbered `shown` and above."""
    axes = tuple(axis for axis, at in enumerate(own) if at >= shown)
    if not axes:
        return factor, own, possible
    sizes = [keys[at].size for at in own]
    kept = [at for at in own if at < shown]
    rows = prod(keys[at].size for at in kept)
    # Which row of the sum each row goes to.
    target = np.broadcast_to(
        np.arange(rows).reshape([1 if axis in axes else size for axis, size in enumerate(sizes)]), sizes
    )
    adding = Sparse(
        scipy.sparse.csr_array(
            (np.ones(target.size), (target.ravel(), np.arange(target.size))), shape=(rows, target.size)
        )
    )
    return Matrix(factor.domain, Composed(adding, factor.operator)), kept, np.asarray(possible.any(axis=axes))


def _split(
    condition: Factor, own: list[int], keys: Sequence[Factor]
) -> tuple[Factor, list[int], npt.NDArray[np.bool_]]:
    """A condition split by the keys on its own attributes: a row for every combination of these."""
    if not own:
        return condition, own, np.ones((), bool)
    shape = condition.domain.shape
    held = np.asarray(condition.operator.T @ np.ones(1)).reshape(shape) > 0
    number = np.zeros(shape, np.int64)
    for at in own:
        key = keys[at]
        # The rows of a key count separate cells: the one that counts a cell, from 1; 0 where none does.
        row = np.rint(key.operator.T @ np.arange(1.0, key.size + 1)).astype(np.int64)
        along = [1] * len(shape)
        along[condition.domain.position(key.attributes[0])] = -1
        held = held & (row.reshape(along) > 0)
        number = number * key.size + np.maximum(row.reshape(along) - 1, 0)
    cells = np.flatnonzero(held)
    rows = number.ravel()[cells]
    sizes = [keys[at].size for at in own]
    matrix = scipy.sparse.csr_array(
        (np.ones(len(cells)), (rows, cells)), shape=(prod(sizes), condition.domain.size)
    )
    possible = np.bincount(rows, minlength=prod(sizes)) > 0
    return Matrix(condition.domain, Sparse(matrix)), own, possible.reshape(sizes)
