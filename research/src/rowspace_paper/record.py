"""What a reproduction consists of: claims with their verdicts, matrices, tables and charts, gathered in chapters.

All of them are plain values. A chapter computes them; the page, the JSON and the documentation only lay them out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

Cell = str | float | int


class Verdict(StrEnum):
    """How a claim of the paper came out, decided by the computation beside it."""

    HOLDS = "holds"
    CORRECTED = "corrected"
    FAILS = "does not hold as printed"
    ANSWERED = "answered"
    UNCONFIRMED = "not confirmed"


@dataclass(frozen=True)
class Source:
    """Where a claim stands, in what words, which function computes it and which test keeps it.

    `key` names the claim for good; `function` is a dotted name below `rowspace`, or one of
    `rowspace_paper`; `test` is a pytest node.
    """

    key: str
    where: str
    words: str
    function: str
    test: str


@dataclass(frozen=True)
class Claim:
    """One claim of the paper beside what we compute. `numbers` are the figures behind `ours`."""

    source: Source
    printed: str
    ours: str
    verdict: Verdict
    correction: str = ""
    numbers: Mapping[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """For the JSON."""
        return {
            "key": self.source.key,
            "where": self.source.where,
            "claim": self.source.words,
            "paper": self.printed,
            "ours": self.ours,
            "verdict": str(self.verdict),
            "correction": self.correction,
            "function": self.source.function,
            "test": self.source.test,
            "numbers": {name: float(value) for name, value in self.numbers.items()},
        }


def confirm(source: Source, printed: str, ours: str, /, *, holds: bool, **numbers: float) -> Claim:
    """A claim that is expected to hold; `holds` is what the computation says."""
    return Claim(source, printed, ours, Verdict.HOLDS if holds else Verdict.UNCONFIRMED, "", numbers)


def answer(source: Source, printed: str, ours: str, /, *, reached: bool, **numbers: float) -> Claim:
    """A question the paper leaves open; `reached` says whether the computation got where the answer says."""
    return Claim(source, printed, ours, Verdict.ANSWERED if reached else Verdict.UNCONFIRMED, "", numbers)


def correct(
    source: Source, printed: str, ours: str, correction: str, /, *, wrong: bool, right: bool, **numbers: float
) -> Claim:
    """A slip: the printed value is `wrong` and the corrected one is `right`, both as computed."""
    verdict = Verdict.CORRECTED if wrong and right else Verdict.UNCONFIRMED
    return Claim(source, printed, ours, verdict, correction, numbers)


def refute(
    source: Source, printed: str, ours: str, correction: str, /, *, wrong: bool, right: bool, **numbers: float
) -> Claim:
    """A statement with a counterexample: it is `wrong` there, and what `correction` says is `right`."""
    verdict = Verdict.FAILS if wrong and right else Verdict.UNCONFIRMED
    return Claim(source, printed, ours, verdict, correction, numbers)


@dataclass(frozen=True)
class Matrix:
    """A printed matrix as we compute it: `factor` times the entries."""

    name: str
    where: str
    entries: tuple[tuple[float, ...], ...]
    factor: str = ""

    @classmethod
    def of(cls, name: str, where: str, array: npt.ArrayLike, factor: str = "") -> Matrix:
        """From an array, cleaned of rounding."""
        rows = np.round(np.asarray(array, dtype=float), 10) + 0.0
        return cls(name, where, tuple(tuple(map(float, row)) for row in rows), factor)


@dataclass(frozen=True)
class Table:
    """A table of figures; columns in the order of `headings`."""

    key: str
    title: str
    caption: str
    headings: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Series:
    """One line of a chart."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]

    @classmethod
    def of(cls, name: str, x: npt.ArrayLike, y: npt.ArrayLike) -> Series:
        """From arrays."""
        return cls(name, tuple(map(float, np.asarray(x))), tuple(map(float, np.asarray(y))))


@dataclass(frozen=True)
class Chart:
    """Lines over a common axis; `equal` draws both axes to one scale around zero."""

    key: str
    title: str
    caption: str
    x_title: str
    series: tuple[Series, ...]
    x_log: bool = False
    y_log: bool = False
    equal: bool = False


@dataclass(frozen=True)
class Chapter:
    """One part of the paper, reproduced; `short` is its name in a row of links."""

    key: str
    short: str
    title: str
    summary: str
    claims: tuple[Claim, ...] = ()
    matrices: tuple[Matrix, ...] = ()
    tables: tuple[Table, ...] = ()
    charts: tuple[Chart, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """For the JSON."""
        return {
            "key": self.key,
            "title": self.title,
            "claims": [claim.to_dict() for claim in self.claims],
            "matrices": [vars(matrix) for matrix in self.matrices],
            "tables": [vars(table) for table in self.tables],
            "charts": [
                {**vars(chart), "series": [vars(series) for series in chart.series]} for chart in self.charts
            ],
        }


def number(value: float, digits: int = 5) -> str:
    """A figure with so many significant digits, and no more than it has.

    >>> number(2.8958), number(20.0), number(2.5e9), number(-0.0)
    ('2.8958', '20', '2.5e9', '0')
    """
    if not math.isfinite(value):
        return "∞" if value > 0 else "–"
    if value != 0 and not 1e-4 <= abs(value) < 1e7:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}".replace("-", "−", int(value < 0))
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value)))) if value else 0
    text = f"{value:,.{min(decimals, 8)}f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text).replace("-", "−") if value else "0"


def superscript(exponent: int) -> str:
    """An exponent as it is written.

    >>> "2" + superscript(-16)
    '2⁻¹⁶'
    """
    return str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def numbers(values: Sequence[float], digits: int = 5) -> str:
    """Several figures in a row.

    >>> numbers([1, 3, 3])
    '1, 3, 3'
    """
    return ", ".join(number(value, digits) for value in values)


def close(a: npt.ArrayLike, b: npt.ArrayLike, tolerance: float = 1e-9) -> bool:
    """Equal up to rounding, relative to the larger of the two."""
    left, right = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if left.shape != right.shape:
        return False
    scale = max(float(np.abs(left).max()), float(np.abs(right).max()), 1e-300)
    return bool(np.abs(left - right).max() <= tolerance * scale)
