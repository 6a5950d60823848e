"""Numbers cut into half-open bins."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from rowspace.exceptions import InvalidDomain

#: Most bins one attribute may have. A plan file asks for them with a few bytes, so there must be a limit.
MAX_BINS = 2**26
# Up to here float64 holds every integer and every difference of two, so "the next integer" has a meaning.
_EXACT_INTEGERS = 2**52
# Keeps (high - low) * bins finite.
_LARGEST_EDGE = 1e200


def is_exact_integer(value: float) -> bool:
    """Tell whether a float is an integer in the range where floats hold every integer."""
    return value.is_integer() and abs(value) <= _EXACT_INTEGERS


def _check_number(value: object, name: str) -> float:
    """Return a bound as a float, or say why it cannot be one."""
    if value is None:
        raise InvalidDomain(f"{name} is missing: write Numeric(low, high, bins=k) or Numeric(edges=[...])")
    if isinstance(value, bool | np.bool_ | str | bytes):
        raise InvalidDomain(f"{name} must be a number, got {type(value).__name__}")
    try:
        number = float(cast(float, value))
    except (TypeError, ValueError, OverflowError):
        raise InvalidDomain(f"{name} must be a finite number, got {type(value).__name__}") from None
    if not abs(number) <= _LARGEST_EDGE:  # also catches NaN
        raise InvalidDomain(f"{name} must be finite and at most 1e200 in size, got {number}")
    return number


def check_equal_bins(low: object, high: object, bins: object) -> tuple[int, float, float]:
    """Check the three numbers of equal bins."""
    first, last = _check_number(low, "low"), _check_number(high, "high")
    if bins is None:
        raise InvalidDomain("bins is missing: write Numeric(low, high, bins=k) or Numeric(edges=[...])")
    if isinstance(bins, bool | np.bool_):
        raise InvalidDomain("bins must be a whole number, got bool")
    try:
        size = operator.index(cast(int, bins))
    except TypeError:
        raise InvalidDomain(f"bins must be a whole number, got {type(bins).__name__}") from None
    if not 1 <= size <= MAX_BINS:
        raise InvalidDomain(f"bins must be between 1 and 2**26 = {MAX_BINS:,}, got {_short(size)}")
    if not first < last:
        raise InvalidDomain(f"low must be below high, got low={first!r} and high={last!r}")
    if not is_resolvable(first, last, size):
        raise InvalidDomain(
            f"{size:,} bins between {first!r} and {last!r} are finer than float64 can tell apart"
        )
    return size, first, last


def check_edges(edges: Iterable[float] | npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return explicit edges as a read-only increasing array."""
    if isinstance(edges, str | bytes | dict):
        raise InvalidDomain(f"edges must be a list of numbers, got {type(edges).__name__}")
    try:
        items = list(edges)
    except TypeError:
        raise InvalidDomain(f"edges must be a list of numbers, got {type(edges).__name__}") from None
    if len(items) < 2:
        raise InvalidDomain(f"edges must hold at least two numbers (one bin), got {len(items)}")
    if len(items) > MAX_BINS + 1:
        raise InvalidDomain(f"edges may make at most 2**26 = {MAX_BINS:,} bins, got {len(items) - 1:,}")
    array = np.array(
        [_check_number(item, f"edge {index}") for index, item in enumerate(items)], dtype=np.float64
    )
    not_above = np.flatnonzero(np.diff(array) <= 0)
    if not_above.size:
        at = int(not_above[0])
        before, after = float(array[at]), float(array[at + 1])
        raise InvalidDomain(
            f"edges must increase: edge {at + 1} ({after!r}) is not above edge {at} ({before!r})"
        )
    array.flags.writeable = False
    return array


def is_resolvable(low: float, high: float, size: int) -> bool:
    """Tell whether equal edges increase strictly: a step of 8 ulps leaves room for the rounding of each."""
    return (high - low) / size > 8 * math.ulp(max(abs(low), abs(high)))


def equal_edges(low: float, high: float, size: int, whole_steps: bool) -> npt.NDArray[np.float64]:
    """Return the edges of equal bins; whole steps keep integers exact."""
    index = np.arange(size + 1, dtype=np.float64)
    if whole_steps:
        return low + (high - low) // size * index
    # Multiplying before dividing puts the third edge of [0, 1) in ten bins at exactly 0.3.
    edges = low + (high - low) * index / size
    edges[-1] = high
    return edges


def _short(number: int) -> str:
    """Write an integer that may have thousands of digits."""
    return f"{number:,}" if abs(number) < 10**30 else "a number of more than 30 digits"


Outside = Literal["missing", "clip", "drop"]

#: What can become of a value that is outside.
POLICIES = ("missing", "clip", "drop")

Cells = npt.NDArray[np.int64]


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Numeric:
    """A number cut into bins ``[e₀, e₁), [e₁, e₂), …``: each holds its left edge and not its right one.

    Give either ``low``, ``high`` and ``bins`` for bins of equal width, or all ``edges``. A value equal to the
    last edge is outside the domain.

    Args:
        low: Left edge of the first bin.
        high: Right edge of the last bin.
        bins: Number of bins of equal width.
        edges: All edges, increasing: one more than there are bins.
        outside: What becomes of a record whose value is outside. ``"missing"`` treats it like NULL: it is in no
            bin and no range, and in all counts that are not about this attribute. ``"clip"`` counts it in the
            nearest bin (NULL and NaN stay missing). ``"drop"`` leaves the record, and one with NULL, out of every
            count of a workload that names this attribute. How many there are is never reported.
        integer: Whether the values are whole numbers (others are rounded down). Only then does ``age <= 64`` mean
            ``age < 65``, and a bin of one number is called ``18`` rather than ``[18, 19)``. Every edge must be whole.

    Bins of equal width take constant memory until `edges` is asked for.

    >>> age = Numeric(0, 100, bins=100, integer=True)
    >>> age.size, age.label(18), age.span_label(18, 64)
    (100, '18', '[18, 65)')
    >>> Numeric(edges=[0, 18, 65, 120]).labels()
    ['[0, 18)', '[18, 65)', '[65, 120)']
    """

    size: int
    low: float
    high: float
    outside: Outside
    integer: bool
    _given_edges: npt.NDArray[np.float64] | None

    def __init__(
        self,
        low: float | None = None,
        high: float | None = None,
        *,
        bins: int | None = None,
        edges: Iterable[float] | npt.NDArray[Any] | None = None,
        outside: Outside = "missing",
        integer: bool = False,
    ) -> None:
        if outside not in POLICIES:
            raise InvalidDomain(f"outside must be 'missing', 'clip' or 'drop', got {outside!r}")
        if not isinstance(integer, bool):
            raise InvalidDomain(f"integer must be True or False, got {integer!r}")
        given: npt.NDArray[np.float64] | None = None
        if edges is None:
            size, first, last = check_equal_bins(low, high, bins)
            all_integers = is_exact_integer(first) and is_exact_integer(last) and (last - first) % size == 0
        elif low is None and high is None and bins is None:
            given = check_edges(edges)
            size, first, last = len(given) - 1, float(given[0]), float(given[-1])
            all_integers = all(map(is_exact_integer, given.tolist()))
            if is_resolvable(first, last, size) and np.array_equal(
                given, equal_edges(first, last, size, all_integers)
            ):
                given = None  # so that equal attributes are stored, compared and saved alike
        else:
            raise InvalidDomain("give either low, high and bins, or edges; got both")
        if integer and not all_integers:
            raise InvalidDomain(
                "integer=True needs every bin edge to be an integer (at most 2**52 in size); "
                "choose bins that divide high - low, or leave integer out"
            )
        for name, value in (
            ("size", size),
            ("low", first),
            ("high", last),
            ("outside", outside),
            ("integer", integer),
            ("_given_edges", given),
        ):
            object.__setattr__(self, name, value)

    @property
    def keeps_missing(self) -> bool:
        """Whether a record without a known value is counted in what is not about this attribute."""
        return not self.drops

    @property
    def drops(self) -> bool:
        """Whether a record without a known value is left out of every count."""
        return self.outside == "drop"

    @cached_property
    def edges(self) -> npt.NDArray[np.float64]:
        """All edges, increasing, ``size + 1`` of them; read-only. The first call costs O(size)."""
        if self._given_edges is not None:
            return self._given_edges
        edges = equal_edges(self.low, self.high, self.size, self._has_integer_edges)
        edges.flags.writeable = False
        return edges

    def edge(self, index: int) -> float:
        """Return one edge in O(1). index: its place, from 0 for the lowest.

        >>> Numeric(0, 100, bins=10, integer=True).edge(1)
        10.0
        """
        if self._given_edges is not None:
            return float(self._given_edges[index])
        if index == self.size:
            return self.high
        if self._has_integer_edges:
            return self.low + (self.high - self.low) // self.size * index
        return self.low + (self.high - self.low) * index / self.size

    def nearest_edge(self, value: float) -> int:
        """Return the index of the edge nearest to a number: O(1) for equal bins, else O(log size).

        value: any number.

        >>> Numeric(0, 100, bins=10, integer=True).nearest_edge(18)
        2
        """
        if self._given_edges is not None:
            index = int(np.searchsorted(self._given_edges, value))
        else:
            index = math.ceil((value - self.low) / (self.high - self.low) * self.size)
        near = [k for k in range(index - 2, index + 2) if 0 <= k <= self.size]
        if not near:
            return 0 if index < 0 else self.size
        return min(near, key=lambda k: abs(self.edge(k) - value))

    def label(self, index: int) -> str:
        """Return the readable name of one bin: ``"18"`` when it holds one integer, else ``"[18, 65)"``.

        index: its place, from 0.

        >>> Numeric(0, 100, bins=10, integer=True).label(1)
        '[10, 20)'
        """
        return self.span_label(index, index)

    def labels(self, start: int = 0, stop: int | None = None) -> list[str]:
        """Return the readable names of the bins ``start`` to ``stop - 1``.

        >>> Numeric(0, 100, bins=10, integer=True).labels(0, 2)
        ['[0, 10)', '[10, 20)']
        """
        cells = np.arange(self.size)[start:stop]
        return self.span_labels(cells, cells)

    def span_label(self, first: int, last: int) -> str:
        """Return the readable name of the bins ``first`` to ``last``, both included, taken together.

        >>> Numeric(0, 100, bins=10, integer=True).span_label(1, 3)
        '[10, 40)'
        """
        return self.span_labels(np.array([first]), np.array([last]))[0]

    def span_labels(self, first: Cells, last: Cells) -> list[str]:
        """Return the readable names of many spans at once: every edge among them is written once.

        first, last: the bins where each begins and ends, both included.

        >>> Numeric(0, 100, bins=10, integer=True).span_labels(np.array([1, 0]), np.array([3, 0]))
        ['[10, 40)', '[0, 10)']
        """
        lost = np.flatnonzero((first < 0) | (first > last) | (last >= self.size))
        if lost.size:
            span = f"{first[lost[0]]} to {last[lost[0]]}"
            raise InvalidDomain(f"expected bins between 0 and {self.size - 1}, got {span}")
        used, at = np.unique(np.stack([first, last + 1]), return_inverse=True)
        edges = np.array([self.edge(index) for index in used.tolist()])
        texts = [self.format(edge) for edge in edges.tolist()]
        low, high = at.reshape(2, -1)
        # One whole number is called by itself; no edges are that close where the difference is another.
        single = self.integer & (edges[high] - edges[low] == 1)
        ends = zip(low.tolist(), high.tolist(), single.tolist(), strict=True)
        return [texts[a] if one else f"[{texts[a]}, {texts[b]})" for a, b, one in ends]

    def format(self, value: float) -> str:
        """Write an edge as people do: ``18`` rather than ``18.0``, without the noise of rounding. value: an edge.

        >>> Numeric(0, 100, bins=10, integer=True).format(10.0)
        '10'
        """
        if is_exact_integer(value) and abs(value) < 1e15:
            return str(int(value))
        return f"{value:.{self._digits}g}"

    def __str__(self) -> str:
        bins = "1 bin" if self.size == 1 else f"{self.size:,} bins"
        equal = (
            "" if self._given_edges is not None else f" of width {self.format(self.edge(1) - self.edge(0))}"
        )
        kind = "integers" if self.integer else "numbers"
        policy = {"missing": "missing", "clip": "clipped", "drop": "dropped"}[self.outside]
        return f"{kind} in {self._whole()}, {bins}{equal}, others {policy}"

    def __repr__(self) -> str:
        tail = f", outside={self.outside!r}, integer={self.integer})"
        if self._given_edges is None:
            return f"Numeric({self.format(self.low)}, {self.format(self.high)}, bins={self.size}{tail}"
        shown = [self.format(edge) for edge in self._given_edges[:6].tolist()]
        more = ", ..." if self.size > 5 else ""
        return f"Numeric(edges=[{', '.join(shown)}{more}]{tail}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Numeric):
            return NotImplemented
        mine, theirs = self._given_edges, other._given_edges
        return self._key() == other._key() and (
            (mine is None and theirs is None)
            or (mine is not None and theirs is not None and np.array_equal(mine, theirs))
        )

    def __hash__(self) -> int:
        return hash(self._key())

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON-safe form; bins of equal width take three numbers whatever their count.

        >>> age = Numeric(0, 100, bins=10, integer=True)
        >>> Numeric.from_dict(age.to_dict()) == age
        True
        """
        shape: dict[str, Any] = (
            {"low": self.low, "high": self.high, "bins": self.size}
            if self._given_edges is None
            else {"edges": self._given_edges.tolist()}
        )
        return {"kind": "numeric", **shape, "outside": self.outside, "integer": self.integer}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Numeric:
        """Rebuild from `to_dict`, checking everything: the file may come from anyone.

        data: what `to_dict` returned.

        >>> age = Numeric(0, 100, bins=10, integer=True)
        >>> Numeric.from_dict(age.to_dict()) == age
        True
        """
        unknown = set(data) - {"kind", "low", "high", "bins", "edges", "outside", "integer"}
        if unknown:
            raise InvalidDomain(f"a numeric attribute has no field {min(map(repr, unknown))}")
        return cls(
            data.get("low"),
            data.get("high"),
            bins=data.get("bins"),
            edges=data.get("edges"),
            outside=cast(Outside, data.get("outside", "drop")),
            integer=data.get("integer", False),
        )

    @cached_property
    def _has_integer_edges(self) -> bool:
        """Tell whether equal bins step by whole numbers, so that edges are exact."""
        return (
            is_exact_integer(self.low)
            and is_exact_integer(self.high)
            and (self.high - self.low) % self.size == 0
        )

    @cached_property
    def _digits(self) -> int:
        """Digits that keep neighbouring edges apart without showing rounding noise."""
        widths = (
            np.diff(self._given_edges)
            if self._given_edges is not None
            else (self.high - self.low) / self.size
        )
        return 12 if float(np.min(widths)) > 1e-10 * max(abs(self.low), abs(self.high)) else 17

    def _whole(self) -> str:
        """The interval that all bins cover."""
        return f"[{self.format(self.low)}, {self.format(self.high)})"

    def _key(self) -> tuple[object, ...]:
        """Everything but the inner edges, for equality and hashing."""
        return self.size, self.low, self.high, self.outside, self.integer
