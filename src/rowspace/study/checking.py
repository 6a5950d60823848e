"""`rs.check`: a study beside the data, for the eyes of the data's curator only."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from rowspace.domain import Domain
from rowspace.exceptions import InvalidInput
from rowspace.notebook import notebook_table, one_line, printable
from rowspace.privacy import PrivacyUnit

from .findings import Finding, advised_cap, find
from .study import Study

if TYPE_CHECKING:
    from rowspace.formats import CSV
    from rowspace.sources import ColumnLook, Source, UnitSizes

CHECK_WARNING = (
    "For the curator's eyes only: this looked at the data, without any privacy. Do not publish or share it."
)

HEADINGS = ("attribute", "column is", "known", "missing", "outside", "unlisted", "unreadable")


@dataclass(frozen=True, repr=False)
class Check:
    """What `rs.check` found: exact numbers about the data, without any privacy.

    Args:
        rows: How many rows there are; None if no column of the study is there.
        counted: How many a release is about, before a cap on rows per unit.
        columns: What the rows are to every attribute (`rowspace.sources.looks.ColumnLook`).
        unit: The rows per privacy unit, if there is one (`rowspace.sources.looks.UnitSizes`).
        findings: What is worth knowing, in words.

    >>> import pandas as pd, rowspace as rs
    >>> domain = rs.Domain(age=rs.Numeric(0, 100, bins=100), sex=rs.Categorical(["F", "M"]))
    >>> found = rs.check(domain, pd.DataFrame({"age": [30, 140, None], "sex": ["F", " M", "M"]}))
    >>> found.rows, found.columns[0].above, found.columns[1].values
    (3, 1, ((' M', 1),))
    """

    rows: int | None
    counted: int | None
    columns: tuple[ColumnLook, ...]
    unit: UnitSizes | None
    findings: tuple[Finding, ...]

    @property
    def accepted(self) -> bool:
        """Whether `release` accepts the data."""
        return not any(finding.refused for finding in self.findings)

    @property
    def verdict(self) -> str:
        """Whether `release` accepts the data, in words."""
        rows = "" if self.rows is None else f"{self.rows:,} row{'' if self.rows == 1 else 's'}: "
        if not self.accepted:
            return f"{rows}a release refuses this data"
        less = "" if self.counted == self.rows else f", and is about {self.counted:,} of them"
        return f"{rows}a release accepts this data{less}"

    def table(self) -> list[tuple[str, ...]]:
        """Return one line per attribute, as text in the order of ``HEADINGS``; a dash where nothing can be told.

        >>> import pandas as pd, rowspace as rs
        >>> rs.check(rs.Domain(age=rs.Numeric(0, 100, bins=100)), pd.DataFrame({"age": [30, 140]})).table()
        [('age', 'an integer', '1', '0', '1', '0', '0')]
        """
        return [_line(column, known=self.rows is not None) for column in self.columns]

    def unit_lines(self) -> list[str]:
        """Return the rows per privacy unit and what caps leave out, in words; nothing without a unit.

        >>> import pandas as pd, rowspace as rs
        >>> unit = rs.PrivacyUnit("who", rows=1)
        >>> visits = pd.DataFrame({"who": [1, 1, 2], "sex": ["F", "F", "M"]})
        >>> print(rs.check(rs.Domain(sex=rs.Categorical(["F", "M"])), visits, unit=unit).unit_lines()[1])
        rows left out by a cap of 1: 1 (33.3 %), 2: 0
        """
        if self.unit is None or not self.unit.units:
            return []
        spread = ", ".join(f"{100 * share:g} % have at most {size:,}" for share, size in self.unit.quantiles)
        caps = ", ".join(
            f"{cap.rows:,}: {cap.left_out:,}" + (f" ({100 * cap.share:.1f} %)" if cap.left_out else "")
            for cap in self.unit.caps
        )
        return [
            f"{self.unit.rows:,} {self.unit.of} of {self.unit.units:,} units: {spread}; the largest has "
            f"{self.unit.largest:,}",
            f"{self.unit.of} left out by a cap of {caps}",
        ]

    def lines(self) -> list[str]:
        """Return all findings as lines of text, each with its attribute; refusals say so.

        >>> import pandas as pd, rowspace as rs
        >>> print(rs.check(rs.Domain(sex=rs.Categorical(["F", "M"])), pd.DataFrame({"sexe": ["F"]})).lines()[0])
        refused: sex: expected a column 'sex', got none of that name; did you mean 'sexe'?
        """
        return [
            ("refused: " if finding.refused else "")
            + (f"{finding.attribute}: " if finding.attribute is not None else "")
            + finding.message
            for finding in self.findings
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values, for JSON, under a warning.

        >>> import pandas as pd, rowspace as rs
        >>> found = rs.check(rs.Domain(sex=rs.Categorical(["F", "M"])), pd.DataFrame({"sex": ["F", "M"]}))
        >>> found.to_dict()["warning"][:28], found.to_dict()["accepted"]
        ("For the curator's eyes only:", True)
        """
        unit = None
        if self.unit is not None:
            unit = asdict(self.unit)
            unit["advised_cap"] = advised_cap(self.unit).rows if self.unit.units else None
        return {
            "warning": CHECK_WARNING,
            "accepted": self.accepted,
            "rows": self.rows,
            "counted": self.counted,
            "attributes": [asdict(column) for column in self.columns],
            "unit": unit,
            "findings": [asdict(finding) for finding in self.findings],
        }

    def __str__(self) -> str:
        table = [HEADINGS, *self.table()]
        widths = [max(len(line[k]) for line in table) for k in range(len(HEADINGS))]
        rows = [
            "  ".join(
                cell.ljust(width) if k < 2 else cell.rjust(width)
                for k, (cell, width) in enumerate(zip(line, widths, strict=True))
            )
            for line in table
        ]
        notes = [f"- {line}" for line in (*self.unit_lines(), *self.lines())]
        return "\n".join([CHECK_WARNING, self.verdict, "", *rows, *([""] if notes else []), *notes])

    def __repr__(self) -> str:
        return one_line(f"<Check of {len(self.columns)} attributes; {self.verdict}>")

    def _repr_html_(self) -> str:
        notes = [*self.unit_lines(), *self.lines()]
        caption = Markup("<strong>{}</strong><br>{}").format(CHECK_WARNING, self.verdict)
        listed = Markup().join(Markup("<li>{}</li>").format(note) for note in notes)
        return notebook_table(caption, HEADINGS, self.table(), words=2) + printable(f"<ul>{listed}</ul>")


def check(
    study: Study | Domain, source: Source | CSV, *, table: str | None = None, unit: PrivacyUnit | None = None
) -> Check:
    """Look at the data beside a study, before anything is released. **Not private: for the data's curator only.**

    `release` never tells how many values are missing, outside or unlisted, because those numbers are about the data.
    This does: per attribute, with the values that are no category, with what a release makes of such rows, with what it
    would refuse, and with what caps on rows per unit leave out.

    Args:
        study: A study, whose [data] says how a CSV file is written; or a domain, all of whose attributes are looked at.
        source: Records, wherever `rs.release` can read them: files, frames, tables, databases. Not counts.
        table: The table of a database, if the study does not say it.
        unit: Whose rows belong together, if the study does not say it.

    Raises:
        SourceError: The source cannot be read at all. What a release would refuse of its content is a finding instead.

    Example:
        >>> import pandas as pd, rowspace as rs
        >>> domain = rs.Domain(age=rs.Numeric(0, 100, bins=100), sex=rs.Categorical(["F", "M"], other="unknown"))
        >>> print(rs.check(domain, pd.DataFrame({"age": [30, 14, None, 12], "sex": ["F", " M", "M", "m"]})))
        For the curator's eyes only: this looked at the data, without any privacy. Do not publish or share it.
        4 rows: a release accepts this data
        <BLANKLINE>
        attribute  column is                known  missing  outside  unlisted  unreadable
        age        a floating-point number      3        1        0         0           0
        sex        text                         2        0        0         2           0
        <BLANKLINE>
        - age: 1 row (25.0 %) is missing: in no range of it, and in totals and tables of other attributes
        - sex: 2 rows (50.0 %) are in no category (" M" 1, "m" 1): counted as 'unknown'
        - sex: 1 of these would be a category but for spaces around them: clean the column in a view or a frame
        - sex: 1 of these would be a category but for upper and lower case: clean the column in a view or a frame
    """
    from rowspace.sources import look

    if isinstance(study, Study):
        asked = frozenset(study.workload.reduced().domain.names)
        domain, unit = study.domain, unit or study.privacy.unit
        if isinstance(source, str | os.PathLike):
            table = table or study.table_at(source)
            source = study.source(source)
    elif isinstance(study, Domain):
        domain, asked = study, frozenset(study.names)
    else:
        raise InvalidInput(f"expected a study or a domain, got {type(study).__name__}")
    looked = look(source, domain, asked, unit=unit, table=table)
    found = find(domain, asked, unit, looked)
    return Check(looked.rows, looked.counted, looked.columns, looked.unit, found)


def _line(column: ColumnLook, *, known: bool) -> tuple[str, ...]:
    """An attribute's line of the table."""
    if column.type is None or not known:
        return (column.name, "not there", *("–" for _ in HEADINGS[2:]))
    counts = (
        column.known,
        column.missing,
        column.below + column.above,
        column.unlisted,
        column.unreadable,
    )
    return (column.name, column.type, *(f"{count:,}" for count in counts))
