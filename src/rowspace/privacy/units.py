"""Whom privacy protects when a person may have several records: a unit, and how many of its rows may count."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from rowspace.exceptions import InvalidPrivacy

from .validation import positive_integer


class Neighbours(Enum):
    """The relation between tables that must stay hard to tell apart.

    ADD_REMOVE is the paper's: one record is added or removed, so one cell of the count vector changes by
    one. REPLACE_ONE (the number of records is public): one record becomes another, so one cell goes up by
    one and another down by one, or only one of the two where the other record is outside the domain.

    >>> Neighbours.of("replace-one")
    <Neighbours.REPLACE_ONE: 'replace-one'>
    """

    ADD_REMOVE = "add-remove"
    REPLACE_ONE = "replace-one"

    @classmethod
    def of(cls, value: Neighbours | str) -> Neighbours:
        """The relation itself, or the one a string names; `InvalidPrivacy` for anything else."""
        if isinstance(value, cls):
            return value
        for relation in cls:
            if isinstance(value, str) and value == relation.value:
                return relation
        raise InvalidPrivacy(
            "expected neighbours to be 'add-remove' (the default) or 'replace-one', "
            f"got a {type(value).__name__} that is neither"
        )

    def __str__(self) -> str:
        return "add or remove one record" if self is Neighbours.ADD_REMOVE else "replace one record"


LONGEST_COLUMN = 200


@dataclass(frozen=True, slots=True)
class PrivacyUnit:
    """All rows with the same value in `column` belong to one unit; at most `rows` of them are counted.

    distinct: count units rather than rows: a unit is counted at most once in a cell of what a release counts over, and
    in at most `rows` cells. Where cells are summed, it counts once for each of them.

    periods, apart: for plans over periods (`rs.plan(…, over="month")`), where `rows` is the bound for one period: at
    most so many periods of a unit are counted, its first ones, each at least `apart` after the one before. A period
    that follows sooner on another in which the unit has rows is left out. What a unit can move then depends on the
    strategy (`rowspace.strategy.participation`); rows · periods times one record bounds it for every strategy.

    Neighbours are then tables that differ in *all* rows of one unit (add-remove: the unit is there or not;
    replace-one: another unit, with rows of its own, stands in its place).

    The sensitivity. Let k = rows, and let keep(D) be what `rowspace.sources.contributions` keeps of a table: of every
    unit at most k rows, chosen by a fresh random key and by the rows of that unit alone. For any fixed key:

    - add-remove: keep(D) and keep(D′) agree on every other unit, so the count vectors differ by e_j₁ + … + e_jₘ with
      m ≤ k, and the answers by ‖a_j₁ + … + a_jₘ‖ ≤ Σ‖a_j‖ ≤ k·Δ, where Δ is the largest column norm. Attained when
      all k rows lie in the cell of the largest column.
    - replace-one: the count vectors differ by Σ_{i≤m} e_jᵢ − Σ_{i≤m′} e_lᵢ with m, m′ ≤ k, not always equal (a unit may
      have fewer rows, or rows outside the domain). Pair min(m, m′) of them; each pair moves the answers by at most
      R = max ‖a_j − a_l‖, each of the |m − m′| others by at most Δ: at most k·max(R, Δ) in all. Attained by k rows in
      the cells of the farthest pair, or by a unit of k rows against one of none.

    The sensitivity of one record's step, `rowspace.privacy.sensitivity`, is Δ or max(R, Δ); both cases multiply it by
    k, in either norm, hence squared norms by k². With `distinct` the k cells differ; under Gaussian noise a plan then
    has the noise for what k different columns of its strategy add up to (`rowspace.strategy.participation`). The
    guarantee then holds for every fixed key; the key is drawn independently of the data, so it holds for the mixture
    too (even were the key published beside the answers). With `distinct`, keep(D) first takes one row of each cell a
    unit is in: a function of that unit's rows alone, too.

    Guarantees
    - k or k² times the norm of one record is exactly the largest change, for both kinds of neighbours
      (`test_step_norm_against_brute_force`).
    - The noise is that of k times the sensitivity (`test_noise_and_variance_grow_with_the_rows`).

    >>> print(PrivacyUnit("user_id", rows=3))
    'user_id', of which at most 3 rows are counted
    """

    column: str
    rows: int
    distinct: bool = False
    periods: int | None = None
    apart: int = 1

    def __post_init__(self) -> None:
        if (
            not isinstance(self.column, str)
            or not 0 < len(self.column) <= LONGEST_COLUMN
            or not self.column.isprintable()
        ):
            raise InvalidPrivacy(
                f"expected the privacy unit's column as a name of 1 to {LONGEST_COLUMN} printable characters, "
                f"got {type(self.column).__name__}"
                + (" of another kind" if isinstance(self.column, str) else "")
            )
        if not isinstance(self.distinct, bool):
            raise InvalidPrivacy(f"expected distinct to be True or False, got {type(self.distinct).__name__}")
        advice = "state the most rows of each that may be counted"
        object.__setattr__(self, "rows", positive_integer("rows of a privacy unit", self.rows, advice))
        if self.periods is None and self.apart != 1:
            raise InvalidPrivacy(
                "expected apart= beside periods=: it says how far apart the periods of a unit are"
            )
        if self.periods is not None:
            advice = "state the most periods in which each may be counted"
            object.__setattr__(
                self, "periods", positive_integer("periods of a privacy unit", self.periods, advice)
            )
        advice = "state how many periods later a unit is counted again, 1 for the next one"
        object.__setattr__(self, "apart", positive_integer("apart of a privacy unit", self.apart, advice))

    @property
    def most_rows(self) -> int:
        """The most rows of a unit that are counted in all.

        >>> PrivacyUnit("user_id", rows=2, periods=12).most_rows
        24
        """
        return self.rows * (self.periods or 1)

    def step(self, neighbours: Neighbours) -> str:
        """What neighbours differ in, in plain words. neighbours: whether a unit is added, removed or replaced.

        >>> PrivacyUnit("user_id", rows=3).step(Neighbours.ADD_REMOVE)
        "add or remove one 'user_id', of which at most 3 rows are counted"
        """
        verb = "add or remove" if neighbours is Neighbours.ADD_REMOVE else "replace"
        return f"{verb} one {self}"

    def to_dict(self) -> dict[str, Any]:
        """A JSON table, read back by `PrivacyUnit.of`.

        >>> PrivacyUnit("user_id", rows=3).to_dict()
        {'column': 'user_id', 'rows': 3}
        """
        tree = {"column": self.column, "rows": self.rows} | ({"distinct": True} if self.distinct else {})
        return tree if self.periods is None else tree | {"periods": self.periods, "apart": self.apart}

    @classmethod
    def of(cls, value: object) -> PrivacyUnit | None:
        """The unit itself, the one a table describes, or None for none; `InvalidPrivacy` for anything else.

        value: a unit, a table of `to_dict`, or None.

        >>> PrivacyUnit.of({"column": "user_id", "rows": 3})
        PrivacyUnit(column='user_id', rows=3)
        """
        if value is None or isinstance(value, cls):
            return value
        if isinstance(value, dict) and {"column", "rows"} <= value.keys() <= {*cls.__slots__}:
            return cls(**value)
        raise InvalidPrivacy(
            "expected unit to be a PrivacyUnit(column, rows), or None where a record is a person, "
            f"got {type(value).__name__}"
        )

    def __repr__(self) -> str:
        """As it is written: what is left at its default is left out."""
        shown = {"distinct": self.distinct, "periods": self.periods, "apart": self.apart}
        more = "".join(
            f", {name}={value!r}" for name, value in shown.items() if value not in (False, None, 1)
        )
        return f"PrivacyUnit(column={self.column!r}, rows={self.rows!r}{more})"

    def __str__(self) -> str:
        if self.distinct:
            cells = "1 cell" if self.rows == 1 else f"{self.rows} cells"
            return f"{self.column!r}, counted at most once in a cell and in at most {cells}{self.recurring}"
        kept = "1 row is" if self.rows == 1 else f"{self.rows} rows are"
        return f"{self.column!r}, of which at most {kept} counted{self.recurring}"

    @property
    def recurring(self) -> str:
        """In which periods a unit is counted, in words; nothing where there are none.

        >>> PrivacyUnit("user_id", rows=1, periods=4, apart=3).recurring
        ' in a period, in at most 4 periods, each at least 3 after the one before'
        """
        if self.periods is None:
            return ""
        most = "1 period" if self.periods == 1 else f"{self.periods} periods"
        later = f", each at least {self.apart} after the one before" if self.apart > 1 else ""
        return f" in a period, in at most {most}{later}"
