"""How much one privacy unit may contribute: at most so many of its rows are counted, chosen at random in the engine.

The choice is a fresh random key and a digest: of every unit the rows with the smallest digests of
(key, unit, codes, number among equals) are kept. So

- it is uniform over the unit's rows, as far as MD5 mixes: the digests of distinct inputs are as good as random, and
  equal rows are told apart by their number among equals. (Which of two equal rows is kept makes no difference.)
- for a given key it depends on the unit's own rows alone, and on nothing else: not on other units, the order of the
  table, or the engine's own random numbers, whose stream would shift for everybody when one unit is added. The
  proof of the sensitivity in `rowspace.privacy.units` needs exactly this, and nothing of MD5.
- every query about the same rows sees the same choice: the check counts what is counted, and many tables of one
  release are tables of the same rows.

Whose a row is, the engine's own equality of the column says, not text: SQLite writes floats with 15 digits, and two
units that became one text would share a bound, so that one's leaving lets in rows of the other. The text goes into the
digest alone. Where one unit has several texts (0.0 and −0.0, collations that ignore case) rows are equals only if their
texts are, or the numbers among equals would depend on the order of the table. And a number has the same text in columns
of integers, floats and decimals: which of them a frame of Python objects becomes, one record can decide.

Rows outside the domain are dropped before the choice: what is chosen then counts, and the bound is the same, since
both steps look at one unit's rows at a time. Rows without a unit (NULL) are dropped as well: nobody's row cannot be
bounded, and an error would tell whoever sees it something about the data. See docs/design/008-privacy-units.md.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ibis

from rowspace.exceptions import SourceError
from rowspace.privacy import PrivacyUnit
from rowspace.sources.columns import as_float64, type_name

# Whole numbers below this have the text of a 64-bit integer, whatever the type of their column.
_INTEGERS = 2.0**63


@ibis.udf.scalar.builtin(name="md5")  # type: ignore[untyped-decorator]
def _md5(text: str) -> str:  # type: ignore[empty-body]
    """The engine's own digest."""


def unit_values(column: Any, unit: PrivacyUnit) -> Any:
    """The column of the unit, of a type whose values the engine tells apart.

    Raises:
        SourceError: A column of a type that identifies nobody. The message names its kind.
    """
    dtype = column.type()
    if dtype.is_nested() or dtype.is_binary() or dtype.is_json() or dtype.is_interval():
        raise SourceError(
            f"column {unit.column!r} is the privacy unit and must hold numbers or text that say whose a row is, got "
            f"{type_name(dtype)}; name another column, or convert it"
        )
    return column


@dataclass(frozen=True)
class RowChoice:
    """What decides which rows of a unit are counted when a table is counted again and again as periods pass.

    period: the column of codes that are periods. key: the same for all periods, so that the rows of a period that was
    counted before are those that were. Nothing is drawn anew, and nothing later decides: not rows of later periods, and
    of earlier ones only whether the unit has any.
    """

    period: str
    key: str


def bounded(rows: Any, unit: PrivacyUnit, backend: Any, choice: RowChoice | None = None) -> Any:
    """Of every unit at most `unit.rows` rows: those of column `unit` and others, without that column.

    `rows` has no NULL in any column. The same expression always stands for the same choice; another call chooses anew.
    choice: for units that are counted in several periods, `unit.rows` in each.

    Guarantees:
        - never more rows of one unit, and all of a unit that has no more:
          `test_contributions.py::test_no_unit_has_more_rows_than_allowed`;
        - adding, removing or changing other units changes nothing for this one:
          `test_contributions.py::test_a_choice_depends_on_the_unit_alone`,
          `test_contributions.py::test_units_are_told_apart_by_value_not_by_text`;
        - every row of a unit is as likely as any other, and choices are fresh each time:
          `test_contributions.py::test_choices_are_fresh_and_uniform`;
        - over periods, what was counted stays and later rows decide nothing:
          `test_recurring_units.py::test_what_was_counted_stays`.
    """
    _provide_digest(backend)
    others = cell_columns(rows)
    # Each step a subquery of its own: engines compute windows before what they are compared with.
    # Of a text's own collation nothing is left in its digest: texts are equal when they are the same.
    separator, key = ibis.literal(":"), ibis.literal(choice.key if choice else secrets.token_hex(16))
    rows = rows.mutate(owner=_md5(separator.join([key, _text(rows.unit)])))
    # As few subqueries as can be: SQLite's parser has room for few.
    if unit.distinct:
        # One row of each cell, the same whatever the order of the table and whoever else is in it.
        number = ibis.row_number().over(group_by=["unit", *others], order_by="owner")
        counted = [ibis._.number == 0]
    else:
        number, counted = ibis.row_number().over(group_by=["unit", "owner", *others]), []
    rows = rows.mutate(number=number, **_since(rows, unit, choice))
    parts = [rows.owner, *(rows[name].cast("string") for name in others), rows.number.cast("string")]
    if choice is not None and unit.apart > 1:
        counted.append(ibis._.since.isnull() | (ibis._[choice.period] - ibis._.since >= unit.apart))
    among = [*counted, "unit"] if choice is None else [*counted, "unit", choice.period]
    places = {"place": ibis.row_number().over(group_by=among, order_by=_md5(separator.join(parts)))}
    kept = [ibis._.place < unit.rows, *counted]
    if choice is not None:
        places["turn"] = ibis.dense_rank().over(group_by=[*counted, "unit"], order_by=choice.period)
        kept.append(ibis._.turn < unit.periods)
    return rows.mutate(**places).filter(*kept).select(*others)


def _since(rows: Any, unit: PrivacyUnit, choice: RowChoice | None) -> dict[str, Any]:
    """The period before in which the unit of a row has rows, where that matters."""
    if choice is None or unit.apart == 1:
        return {}
    earlier = ibis.range_window(preceding=(None, 1), group_by="unit", order_by=choice.period)
    return {"since": rows[choice.period].max().over(earlier)}


def with_marks(rows: Any, names: Sequence[str], backend: Any) -> tuple[Any, list[str]]:
    """The rows with a digest beside every column of text, and the columns that tell keys apart: numbers and digests.

    A collation may take two texts for equal; their digests differ. And no two keys are one text, whatever separates
    their parts.
    """
    _provide_digest(backend)
    texts = [name for name in names if rows[name].type().is_string()]
    rows = rows.mutate(**{f"mark_{name}": _md5(rows[name]) for name in texts})
    return rows, [f"mark_{name}" if name in texts else name for name in names]


def bounded_keys(rows: Any, unit: PrivacyUnit, marks: Sequence[str]) -> Any:
    """Every unit once in each key it has, and in at most `unit.rows` keys, chosen as `bounded` chooses rows.

    `rows` are those of `with_marks`, with a column `unit` and no NULL. What is drawn depends on the unit's own keys
    alone: of a unit with several texts the least digest stands for all of them, whatever the order of the table.
    """
    separator, key = ibis.literal(":"), ibis.literal(secrets.token_hex(16))
    keys = [name for name in rows.columns if name != "unit"]
    rows = rows.mutate(owner=_md5(separator.join([key, _text(rows.unit)])))
    pairs = rows.group_by(["unit", *keys]).aggregate(owner=rows.owner.min())
    parts = [pairs.owner, *(pairs[name].cast("string") for name in marks)]
    pairs = pairs.mutate(draw=_md5(separator.join(parts)))
    pairs = pairs.mutate(place=ibis.row_number().over(group_by="unit", order_by="draw"))
    return pairs.filter(pairs.place < unit.rows).select(*keys)


def _text(units: Any) -> Any:
    """What goes into the digest: a whole number has the same text in a column of any type."""
    dtype = units.type()
    if dtype.is_decimal():  # its scale may be that of another record
        text = units.cast("string")
        return text.contains(".").ifelse(text.re_replace("[.]?0+$", ""), text)
    if not dtype.is_floating():
        return units.cast("string")
    numbers = as_float64(units)
    small = numbers.abs() < _INTEGERS
    # Engines may convert before they choose: what is too large, infinite or NaN must convert, too.
    integers = small.ifelse(units, 0).cast("int64")
    return (small & (integers == units)).ifelse(integers.cast("string"), numbers.cast("string"))


def cell_columns(rows: Any) -> list[str]:
    """The columns of coded rows beside the unit: they say which cell a row is in."""
    return [name for name in rows.columns if name != "unit"]


def bounded_number(rows: Any, unit: PrivacyUnit, choice: RowChoice | None = None) -> Any:
    """How many rows `bounded` keeps, computed another way: Σ over units of min(rows, bound).

    With a unit that is to be counted once in a cell, or in several periods, `rows` are coded.
    """
    if unit.distinct:
        rows = rows.group_by(["unit", *cell_columns(rows)]).aggregate(copies=rows.count())
    if choice is not None:
        pairs = rows.group_by(["unit", choice.period]).aggregate(rows=rows.count())
        before = pairs[choice.period].lag().over(group_by="unit", order_by=choice.period)
        pairs = pairs.mutate(before=before.fill_null(-unit.apart))
        pairs = pairs.filter(pairs[choice.period] - pairs.before >= unit.apart)
        pairs = pairs.mutate(turn=ibis.row_number().over(group_by="unit", order_by=choice.period))
        pairs = pairs.filter(pairs.turn < unit.periods)
        kept = (pairs.rows > unit.rows).ifelse(unit.rows, pairs.rows)
        return pairs.aggregate(inside=kept.sum())
    units = rows.group_by("unit").aggregate(rows=rows.count())
    kept = (units.rows > unit.rows).ifelse(unit.rows, units.rows)
    return units.aggregate(inside=kept.sum())


def _provide_digest(backend: Any) -> None:
    """SQLite alone has no digest of its own."""
    if backend.name == "sqlite":
        backend.con.create_function(
            "md5",
            1,
            lambda text: hashlib.md5(text.encode(), usedforsecurity=False).hexdigest(),
            deterministic=True,
        )
