"""Tables with margins that add up, and the largest cells.

Every combination of some attributes or levels, in the order they were asked for.

A workload answers in the order of its domain, whatever the order of the names. Tables never reshape answers by
themselves: they take them from here, where the order of the answers is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy

from rowspace.domain import Domain
from rowspace.exceptions import InvalidInput, TooLarge
from rowspace.notebook import one_line
from rowspace.operators import Composed, Sparse, Vector
from rowspace.workload import Factor, Matrix, MeasureSum, Part, Workload, marginal, measured, predicates

from .answer_columns import answer_columns

if TYPE_CHECKING:
    import pandas as pd

    from .release import Release


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


MAX_TABLE = 10**6
"""Most cells of a table."""

TOTAL = "total"

FIELDS = ("answer", "std_error", "low", "high")


@dataclass(frozen=True)
class CrossTable:
    """Counts of one or two attributes with totals, as frames of the same shape.

    answer: the counts, a frame with the cells of one attribute down and of the other across, then totals.
    std_error: their standard errors.
    low, high: the ends of their intervals.
    level: the confidence level of the intervals.

    Totals are sums of the cells shown (all answers come from one estimate), with error bars of their own: the noise
    of a sum is not the sum of the noises.

    >>> from rowspace.sample import small_release
    >>> release = small_release(1.0)
    >>> made = release.table("age")
    >>> made
    <CrossTable by age, 5 × 1>
    >>> bool((made.low < made.answer).all().all())
    True
    """

    answer: pd.DataFrame
    std_error: pd.DataFrame
    low: pd.DataFrame
    high: pd.DataFrame
    level: float

    def __repr__(self) -> str:
        names = [str(name) for name in (self.answer.index.name, self.answer.columns.name) if name]
        return one_line(f"<CrossTable by {' and '.join(names)}, {' × '.join(map(str, self.answer.shape))}>")

    def _repr_html_(self) -> str:
        from .display import cross_table_html  # here: only notebooks need it

        return cross_table_html(self)

    def __str__(self) -> str:
        return f"{self.answer.round(1)}\n{self.answer.attrs.get('population', '')}".rstrip()


def table(
    release: Release,
    row: str,
    column: str | None = None,
    where: str | None = None,
    level: float = 0.95,
    *,
    missing: bool = False,
    of: str | None = None,
) -> CrossTable:
    """See `Release.table`. Totals are of the cells shown."""
    names = [row] if column is None else [row, column]
    body = _asked(release, names, where, level, missing=missing, of=of)
    left = [body.groups.left(axis) for axis in range(len(names))]
    labels = [[body.groups.labels[axis][at] for at in kept] for axis, kept in enumerate(left)]
    cells = {field: array[np.ix_(*left)] for field, array in body.figures.items()}
    margins = [
        _around(
            cells["answer"].sum(axis=1 - axis),
            _asked(release, [names[axis]], where, level, [names[1 - axis]], missing, of).figures,
            left[axis],
        )
        for axis in range(len(names))
        if len(names) == 2
    ]
    corner = _around(
        np.asarray(cells["answer"].sum()), _asked(release, [], where, level, names, missing, of).figures
    )
    frames = {
        field: framed(
            names,
            labels,
            cells[field],
            [margin[field] for margin in margins],
            corner[field],
            "count" if of is None else f"sum of {of}",
        )
        for field in FIELDS
    }
    return CrossTable(**frames, level=level)


def top(release: Release, k: int, *names: str, where: str | None = None, level: float = 0.95) -> pd.DataFrame:
    """The k cells of a table with the largest noisy counts, largest first.

    The intervals hold for all cells of the table at once (Bonferroni), so that choosing the largest does not spoil
    them: a cell is surely among the first k where its interval lies above those of all cells left out (``sure``).
    """
    import pandas as pd

    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise InvalidInput(f"expected a whole number of cells, 1 or more, got {k!r}")
    if not names:
        raise InvalidInput('expected the attributes whose cells are ranked, such as top(5, "region", "age")')
    found = groups(release.plan.domain, names, where)
    possible = int(found.possible.sum())
    figures = _asked(release, names, where, 1 - (1 - level) / possible).figures
    answer = np.where(found.possible, figures["answer"], -np.inf).ravel()
    # Equal ones in the order asked.
    ranked = np.argsort(-answer, kind="stable")[:possible]
    left_out = figures["high"].ravel()[ranked[k:]].max(initial=-np.inf)
    ranked = ranked[:k]
    places = np.unravel_index(ranked, found.possible.shape)
    labels = {
        name: np.array(own, dtype=object)[at]
        for name, own, at in zip(names, found.labels, places, strict=True)
    }
    columns: dict[str, Any] = {field: figures[field].ravel()[ranked] for field in FIELDS}
    columns |= {"sure": columns["low"] > left_out, "rank": np.arange(1, len(ranked) + 1)}
    table = pd.DataFrame(answer_columns(labels, columns))
    table.insert(0, "rank", table.pop("rank"))
    table.attrs["method"] = f"simultaneous intervals for all {possible} cells (Bonferroni)"
    return table


def framed(
    names: Sequence[str],
    labels: Sequence[list[str]],
    cells: Vector,
    margins: Sequence[Vector],
    corner: float,
    what: str = "count",
) -> pd.DataFrame:
    """Cells by one or two attributes, in the order of the labels, with their totals after them."""
    import pandas as pd

    rows = pd.Index([*labels[0], _total_beside(labels[0])], name=names[0])
    if len(names) == 1:
        return pd.DataFrame({what: np.append(cells, corner)}, index=rows)
    across, down = margins
    columns = pd.Index([*labels[1], _total_beside(labels[1])], name=names[1])
    body = np.vstack([np.column_stack([cells, across]), np.append(down, corner)])
    return pd.DataFrame(body, index=rows, columns=columns)


def _total_beside(labels: Sequence[str]) -> str:
    """What the totals are called: a category may have that name."""
    name = TOTAL
    while name in labels:
        name = f"({name})"
    return name


@dataclass(frozen=True)
class _Asked:
    """The answers to groups, each figure an array with an axis for each name."""

    groups: Groups
    figures: dict[str, Vector]


def _asked(
    release: Release,
    names: Sequence[str],
    where: str | None,
    level: float,
    among: Sequence[str] = (),
    missing: bool = False,
    of: str | None = None,
) -> _Asked:
    """Answers by some attributes, summed over what a table shows `among` others."""
    found = groups(release.plan.domain, names, where, among=among, missing=missing, of=of)
    if found.workload.size > MAX_TABLE:
        raise TooLarge(
            f"a table of {found.workload.size:,} cells is too large, the limit is {MAX_TABLE:,}; name fewer or "
            "coarser attributes"
        )
    answers = release.ask(found.workload, level)
    return _Asked(found, {field: found.arranged(answers[field]) for field in FIELDS})


def _around(sums: Vector, figures: dict[str, Vector], left: list[int] | None = None) -> dict[str, Any]:
    """Sums of the cells shown, with the error bars that the same query has by itself."""
    own = figures if left is None else {field: array[left] for field, array in figures.items()}
    ends = {end: sums + (own[end] - own["answer"]) for end in ("low", "high")}
    return {"answer": sums, "std_error": own["std_error"], **ends}
