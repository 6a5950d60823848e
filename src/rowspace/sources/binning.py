"""The bin of a number, computed in the engine: exactly `numpy.searchsorted(edges, v, side="right") - 1`.

Bins of equal width, any number of them, take arithmetic. Write lo for the first edge and p/q for the width.
The guess g = floor((v - lo)·q/p) is monotone in v, since each rounded operation is; so over a bin it stays
between its values at the bin's first and last float64. Both are computed beforehand, from the edges alone.
When they are within 1 of the bin's index and the engine's own edge lo + p·g/q is bit for bit the declared
one, comparing v with the two edges next to the guess repairs it exactly. Nothing here is an approximation,
and nothing depends on data.

Other bins take a balanced tree of comparisons, past `MAX_INLINE_BINS` an ASOF join with a table of edges.

Numbers are compared as float64, like `edges`. NULL and NaN are in no bin, and are never clipped.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import ibis
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rowspace.domain import Categorical, Domain, Numeric
from rowspace.exceptions import TooLarge


@dataclass(frozen=True)
class Compute:
    """A new column, from those that the rows have before this step."""

    column: str
    expression: Callable[[Any], Any]


@dataclass(frozen=True)
class Join:
    """New columns from a lookup table; `join` takes the rows and gives them with those columns, none fewer."""

    join: Callable[[Any], Any]


Recipe = Sequence[Compute | Join]


def follow(rows: Any, recipes: Sequence[Recipe]) -> Any:
    """The rows with the columns of all recipes, each of which uses its own columns only.

    What one step needs of another must be a column of a subquery, or engines write it out wherever it is used. Step k
    of all attributes shares one: a subquery per step *and attribute* would make the query cubic in their number.
    """
    for layer in zip_longest(*recipes):
        computed = {step.column: step.expression(rows) for step in layer if isinstance(step, Compute)}
        if computed:
            rows = rows.mutate(**computed)
        for step in layer:
            if isinstance(step, Join):
                rows = step.join(rows)
    return rows


def combine(operation: Callable[[Any, Any], Any], terms: Sequence[Any]) -> Any:
    """All terms under an associative operation, as a tree of small depth: compilers recurse."""
    if len(terms) <= 2:
        return functools.reduce(operation, terms)
    middle = len(terms) // 2
    return operation(combine(operation, terms[:middle]), combine(operation, terms[middle:]))


#: Up to this many categories are written into the query, so that a small domain creates nothing in a foreign
#: database, not even a temporary table; more are joined, which takes the same time however many there are.
MAX_INLINE_CATEGORIES = 32


def is_inline(domain: Domain) -> bool:
    """Whether all categories are written into queries, so that nothing is created in the database."""
    return all(
        not isinstance(attribute, Categorical) or attribute.size <= MAX_INLINE_CATEGORIES
        for _, attribute in domain.attributes
    )


def has_code(values: Any, attribute: Categorical) -> Any:
    """Whether a value has a cell; said by membership alone, as an independent check of `code_recipe`."""
    if attribute.other is not None:
        return ibis.literal(True)
    if attribute.size <= MAX_INLINE_CATEGORIES:
        return _is_category(values, attribute)
    return values.isin(_lookup(values, attribute, "category", "code").category)


def code_recipe(attribute: Categorical, value: str, code: str) -> Recipe:
    """Steps to one more column `code`: the position of column `value` among the categories.

    Values that are no category, and NULL, get the position of the `other` bucket, else NULL.
    """
    other = None if attribute.other is None else len(attribute.values)
    if attribute.size <= MAX_INLINE_CATEGORIES:
        return [Compute(code, lambda rows: _position(rows[value], attribute, other))]
    category, position = f"{code}_category", f"{code}_position"

    def join(rows: Any) -> Any:
        lookup = _lookup(rows[value], attribute, category, position)
        return rows.left_join(lookup, rows[value] == lookup[category])

    def found(rows: Any) -> Any:
        return rows[position] if other is None else rows[position].fill_null(other)

    return [Join(join), Compute(code, found)]


def _is_category(values: Any, attribute: Categorical) -> Any:
    """Whether a value is one of few categories."""
    if _is_run(values, attribute):
        return values.between(attribute.values[0], attribute.values[-1])
    return values.isin(list(attribute.values))


def _position(values: Any, attribute: Categorical, other: int | None) -> Any:
    """The position of a value among few categories."""
    if _is_run(values, attribute):
        return ibis.cases((_is_category(values, attribute), values - attribute.values[0]), else_=other)
    branches = [(category, position) for position, category in enumerate(attribute.values)]
    return values.cases(*branches, else_=other)


def _is_run(values: Any, attribute: Categorical) -> bool:
    """Whether the categories are integers in a row, and so are the values: arithmetic is four times as fast."""
    first = attribute.values[0]
    return bool(
        values.type().is_integer()
        and isinstance(first, int)
        and attribute.values == tuple(range(first, first + len(attribute.values)))
    )


def _lookup(values: Any, attribute: Categorical, category: str, position: str) -> Any:
    """A table of the categories, in the type of the values, with their positions."""
    categories = pa.array(attribute.values, type=values.type().to_pyarrow())
    return ibis.memtable(pa.table({category: categories, position: np.arange(len(attribute.values))}))


#: Unequal bins up to this many are a tree of comparisons; a join is faster above.
MAX_INLINE_BINS = 256

# Other engines have ASOF joins, but the tests run on this one.
_ENGINES_WITH_ASOF = frozenset({"duckdb"})

_CHUNK = 2**18


def is_binned(values: Any, attribute: Numeric) -> Any:
    """Whether a number has a bin; said by the bounds alone, as an independent check of `bin_recipe`."""
    if attribute.outside == "clip":
        return values <= float("inf")  # neither NULL nor NaN (which engines put above infinity, or nowhere)
    return (values >= exact(attribute.low)) & (values < exact(attribute.high))


def bin_recipe(attribute: Numeric, value: str, code: str, engine: str) -> Recipe:
    """Steps to one more column `code`: the bin of column `value` (float64), or NULL.

    Raises:
        TooLarge: Many unequal bins on an engine without a way to look them up.
    """
    affine = _affine_edges(attribute.edges)
    if affine is None and attribute.size <= MAX_INLINE_BINS:

        def search(rows: Any) -> Any:
            # The first and the last leaf have no outer edge to pass, so they take what is clipped.
            found = _search(rows[value], attribute.edges, 0, attribute.size)
            return ibis.cases((is_binned(rows[value], attribute), found))

        return [Compute(code, search)]
    inside = f"{code}_inside"
    clipped = Compute(inside, lambda rows: _inside(rows[value], attribute))
    if affine is not None:
        return [clipped, *affine.recipe(inside, code)]
    if engine not in _ENGINES_WITH_ASOF:
        raise TooLarge(
            f"{attribute.size} bins of unequal width on {engine}: at most {MAX_INLINE_BINS} are possible "
            "there; use equal bins, or export the table to Parquet"
        )
    start = f"{code}_start"
    starts = ibis.memtable(pa.table({start: attribute.edges[:-1], code: np.arange(attribute.size)}))
    return [clipped, Join(lambda rows: rows.asof_join(starts, rows[inside] >= starts[start]))]


def _inside(values: Any, attribute: Numeric) -> Any:
    """The value where it has a bin, the nearest float64 that has one where it is to be clipped, else NULL."""
    low, high = exact(attribute.low), exact(attribute.high)
    if attribute.outside == "clip":
        last = exact(float(np.nextafter(attribute.high, -np.inf)))
        return ibis.cases((values < low, low), (values < high, values), (values <= float("inf"), last))
    return ibis.cases(((values >= low) & (values < high), values))


@dataclass(frozen=True)
class _Affine:
    """Edges low + numerator·g/denominator for g = 0 … size-1, in float64 operations done in this order."""

    low: float
    numerator: float
    denominator: float
    size: int

    def describes(self, edges: npt.NDArray[np.float64]) -> bool:
        """Whether the formula gives these edges bit for bit and the guess is never more than one bin off."""
        for start in range(0, self.size, _CHUNK):
            index = np.arange(start, min(start + _CHUNK, self.size), dtype=np.float64)
            first, after = edges[start : start + index.size], edges[start + 1 : start + 1 + index.size]
            at_first = self._guess(first)
            at_last = self._guess(np.nextafter(after, -np.inf))
            formula = self.low + self.numerator * index / self.denominator
            if not (
                np.array_equal(formula, first)
                and np.all(at_first >= index - 1)
                and np.all(at_last <= index + 1)
            ):
                return False
        return True

    def _guess(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The guess as the engine computes it."""
        return np.floor((values - self.low) * self.denominator / self.numerator)

    def recipe(self, value: str, code: str) -> Recipe:
        """Steps to one more column `code`: the bin of column `value`, which has one or is NULL."""
        low, numerator, denominator = exact(self.low), exact(self.numerator), exact(self.denominator)
        guess, repaired, last = f"{code}_guess", f"{code}_repaired", self.size - 1

        def edge(index: Any) -> Any:
            return low + numerator * index.cast("float64") / denominator

        # Below, the guess is 0: PostgreSQL refuses to divide numbers so small that the quotient is none.
        small = exact(self.numerator / self.denominator / 2)

        def guessed(rows: Any) -> Any:
            above = rows[value] - low
            above = (above < small).ifelse(exact(0.0), above)
            return (above * denominator / numerator).floor().cast("int64")

        def repair(rows: Any) -> Any:
            too_low = (rows[value] >= edge(rows[guess] + 1)).ifelse(1, 0)
            too_high = (rows[value] < edge(rows[guess])).ifelse(1, 0)
            return rows[guess] + too_low - too_high

        def capped(rows: Any) -> Any:
            # The formula is not checked at the last edge, where domains write `high` itself; no bin begins
            # there. (Not LEAST, which skips NULL.)
            return (rows[repaired] > last).ifelse(last, rows[repaired])

        return [Compute(guess, guessed), Compute(repaired, repair), Compute(code, capped)]


def _affine_edges(edges: npt.NDArray[np.float64]) -> _Affine | None:
    """The arithmetic that gives these edges, if one of the usual two does."""
    size, low, width = len(edges) - 1, float(edges[0]), float(edges[-1] - edges[0])
    # A whole or dyadic step is exact when divided first; others are rounded less when multiplied first.
    for candidate in (_Affine(low, width / size, 1.0, size), _Affine(low, width, float(size), size)):
        if candidate.describes(edges):
            return candidate
    return None


def _search(value: Any, edges: npt.NDArray[np.float64], first: int, end: int) -> Any:
    """Binary search among the bins first … end-1, as nested comparisons."""
    if end - first == 1:
        return ibis.literal(first)
    middle = (first + end) // 2
    below = value < exact(float(edges[middle]))
    return below.ifelse(_search(value, edges, first, middle), _search(value, edges, middle, end))


def exact(value: float) -> Any:
    """A float64 literal that engines cannot misread.

    Engines take a literal such as 0.30000000000000004 for a decimal, and round it once more on the way to
    float64. As a quotient of two integers that float64 holds, the second a power of two, it is exact
    everywhere.
    """
    numerator, denominator = value.as_integer_ratio()
    if abs(numerator) < 2**53 and denominator < 2**63:
        whole = ibis.literal(numerator, "int64").cast("float64")
        return whole if denominator == 1 else whole / ibis.literal(denominator, "int64").cast("float64")
    return ibis.literal(repr(value)).cast("float64")
