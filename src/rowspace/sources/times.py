"""Dates and times as whole seconds since 1970 on one zone's clock, computed in the engine by integer arithmetic.

No engine's own idea of a date's text, of its session's time zone or of a number of seconds is used: days are counted
from year, month and day, text is cut at fixed places, and a zone's clock is a table of its changes (on Spark, which
would write that table out many times over, its own). A time with a zone is converted, one without is taken as it is.
"""

from __future__ import annotations

from typing import Any

import ibis
import ibis.expr.datatypes as dt

from rowspace.domain import DAY, Dates, Timed, clock_changes


def is_stored_as(column: Any, wanted: str) -> Any:
    """Whether a SQLite value is stored as what can be read as the `wanted` kind.

    Each has a type of its own: a column declared INTEGER may hold "42abc", which SQLite would convert to 42.
    """
    return column.typeof().isin(_STORED[wanted])


def stored_text(column: Any, binary: str = "") -> Any:
    """A value of any type as text; of binary data, which need not be text, what is said."""
    # Joined with nothing: where a column is declared to be text Ibis leaves out the cast.
    return (column.typeof() == "blob").ifelse(binary, column.cast("string") + "")


_STORED = {
    "numbers": ("integer", "real"),
    "integers": ("integer", "real"),
    "booleans": ("integer",),
    "text": ("text", "integer", "real"),
}


# HH:MM, then perhaps seconds, a fraction of them, and a zone.
_TEXT = (
    "^[0-9]{4}-[0-9]{2}-[0-9]{2}"
    "([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,9})?)?(Z|[+-][0-9]{2}(:?[0-9]{2})?)?)?$"
)
_AHEAD = "([+-][0-9]{2}):?([0-9]{2})$"
# Clock changes are followed in these years where nothing says which are meant.
_CHANGES_FROM, _CHANGES_TO = -2_208_988_800, 4_102_444_800  # 1900 to 2100
_MARGIN = 2 * DAY
_ENGINES_THAT_INLINE = frozenset({"sqlite", "postgres"})
_ALL_ROWS = 2**62

_ENGINES_WITH_TIMEZONE = frozenset({"duckdb", "postgres"})


@ibis.udf.scalar.builtin(
    name="timezone", signature=((dt.string, dt.Timestamp(timezone="UTC")), dt.Timestamp())
)
def _at_zone(zone, time):  # type: ignore[no-untyped-def]
    """The engine's own AT TIME ZONE."""


@ibis.udf.scalar.builtin(
    name="from_utc_timestamp",
    signature=((dt.Timestamp(timezone="UTC"), dt.string), dt.Timestamp(timezone="UTC")),
)
def _spark_clock(time, zone):  # type: ignore[no-untyped-def]
    """The instant at which the clock of UTC shows what the zone's clock shows at a time."""


def is_timed(dtype: Any) -> bool:
    """Whether a column of this type can hold dates or times; text is read as such."""
    return bool(dtype.is_date() or dtype.is_timestamp() or dtype.is_string())


def with_seconds(rows: Any, attribute: Timed, value: str, seconds: str, engine: str) -> Any:
    """The rows with one more column `seconds`: the times of column `value` on the clock of the attribute's zone.

    Of text there are also the columns ``…_unreadable``, ``…_zoned`` and ``…_naive``, which tell about each row. What
    one step needs of another is a column of a subquery, or it would be written out wherever it is used.
    """
    column = rows[value]
    dtype = column.type()
    if engine == "sqlite":  # which has no times: a column that is declared so holds text, or anything
        return _with_text(rows, attribute, value, seconds, stored_text(column), engine)
    if dtype.is_string():
        return _with_text(rows, attribute, value, seconds, column, engine)
    if dtype.is_null():
        return rows.mutate(**{seconds: ibis.null("int64")})
    if dtype.is_date():
        return rows.mutate(**{seconds: _days(*_date(column)) * DAY})
    if dtype.timezone is None:
        return rows.mutate(**{seconds: _seconds(column)})
    utc = (
        _seconds(_at_zone("UTC", column))
        if engine in _ENGINES_WITH_TIMEZONE
        else column.epoch_seconds().cast("int64")
    )
    rows = as_a_step(rows.mutate(**{f"{seconds}_utc": utc}), engine)
    return rows.mutate(**{seconds: _on_the_clock(rows[f"{seconds}_utc"], attribute, engine)})


def as_a_step(rows: Any, engine: str) -> Any:
    """The rows as a subquery that stays one: some engines would write it out wherever it is used, over and over.

    A query with a limit they leave alone. Without it SQLite took 12 ms a row, and PostgreSQL minutes to plan. Spark
    would send all rows of a limit through one task; what stops it, and Ibis, is a column of random numbers that
    nothing reads.
    """
    if engine == "pyspark":
        return rows.mutate(**{f"step {len(rows.columns)}": ibis.random()})
    return rows.limit(_ALL_ROWS) if engine in _ENGINES_THAT_INLINE else rows


def _on_the_clock(utc: Any, attribute: Timed, engine: str) -> Any:
    """Seconds in UTC as those that the clock of the attribute's zone shows."""
    if attribute.zone == "UTC":
        return utc
    if engine == "pyspark":
        return _spark_clock(utc.as_timestamp("s"), attribute.zone).epoch_seconds().cast("int64")
    start, end = _CHANGES_FROM, _CHANGES_TO
    if isinstance(attribute, Dates):
        start, end = int(attribute.low) - _MARGIN, int(attribute.high) + _MARGIN
    return utc + _ahead(utc, clock_changes(attribute.zone, start, end))


def _ahead(utc: Any, changes: tuple[tuple[int, int], ...]) -> Any:
    """By how much the clock is ahead: a balanced tree of comparisons with the times of its changes."""
    if len(changes) == 1:
        return ibis.literal(changes[0][1], "int64")
    middle = len(changes) // 2
    return (utc < changes[middle][0]).ifelse(_ahead(utc, changes[:middle]), _ahead(utc, changes[middle:]))


def _date(column: Any) -> tuple[Any, Any, Any]:
    return column.year(), column.month(), column.day()


def _seconds(column: Any) -> Any:
    """The seconds of a time without a zone; fractions are left out, since every edge is a whole second."""
    return _days(*_date(column)) * DAY + column.hour() * 3600 + column.minute() * 60 + column.second()


def _days(year: Any, month: Any, day: Any) -> Any:
    """Days since 1970 in the Gregorian calendar, from years that begin in March so that leap days come last."""
    year, month, day = (number.cast("int64") for number in (year, month, day))
    year = year - (month <= 2).ifelse(1, 0)
    within = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return year * 365 + year // 4 - year // 100 + year // 400 + within - 719_468


def _with_text(rows: Any, attribute: Timed, value: str, seconds: str, written: Any, engine: str) -> Any:
    """Text of dates and times in ISO 8601, strictly: a day that does not exist cannot be read."""

    def add(**columns: Any) -> None:
        nonlocal rows
        rows = rows.mutate(**{f"{seconds}_{name}": column for name, column in columns.items()})
        rows = as_a_step(rows, engine)

    def get(name: str) -> Any:
        return rows[f"{seconds}_{name}"]

    # What is not written like a time becomes NULL first, so that everything after it converts.
    add(written=written)
    add(text=get("written").re_search(_TEXT).ifelse(get("written"), ibis.null("string")))
    text = get("text")
    rest = text.substr(16, 30)
    add(
        year=text.substr(0, 4).cast("int64"),
        month=text.substr(5, 2).cast("int64"),
        day=text.substr(8, 2).cast("int64"),
        hour=_where(text.length() > 10, text.substr(11, 2)),
        minute=_where(text.length() > 10, text.substr(14, 2)),
        second=_where(text.substr(16, 1) == ":", text.substr(17, 2)),
        behind=rest.re_search("-").fill_null(False),
        ahead_hours=_where(rest.re_search("[+-]"), rest.re_extract("[+-]([0-9]{2})", 1)),
        ahead_minutes=_where(rest.re_search(_AHEAD), rest.re_extract(_AHEAD, 2)),
        has_zone=rest.re_search("[Z+-]").fill_null(False),
    )
    year, month, day = get("year"), get("month"), get("day")
    leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    longest = ibis.cases((month == 2, leap.ifelse(29, 28)), (month.isin([4, 6, 9, 11]), 30), else_=31)
    exists = (year >= 1) & month.between(1, 12) & (day >= 1) & (day <= longest)
    for name, most in (
        ("hour", 23),
        ("minute", 59),
        ("second", 59),
        ("ahead_hours", 23),
        ("ahead_minutes", 59),
    ):
        exists = exists & (get(name) <= most)
    add(
        readable=exists.fill_null(False),
        shown=_days(year, month, day) * DAY + get("hour") * 3600 + get("minute") * 60 + get("second"),
        ahead=(get("ahead_hours") * 60 + get("ahead_minutes")) * get("behind").ifelse(-60, 60),
    )
    add(utc=get("shown") - get("ahead"))
    readable, has_zone = get("readable"), get("has_zone")
    add(clock=has_zone.ifelse(_on_the_clock(get("utc"), attribute, engine), get("shown")))
    add(
        unreadable=rows[value].notnull() & ~readable,
        zoned=readable & has_zone,
        naive=readable & ~has_zone,
    )
    return rows.mutate(**{seconds: get("readable").ifelse(get("clock"), ibis.null("int64"))})


def _where(condition: Any, digits: Any) -> Any:
    """A number from its digits where a condition holds, else 0: engines may convert before they choose."""
    return condition.fill_null(False).ifelse(digits, "0").cast("int64")
