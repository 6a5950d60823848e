"""Names in a statement: which attribute or level of the domain they mean, and where they stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rowspace.domain import Attribute, Dates, Domain
from rowspace.exceptions import InvalidDomain, PredicateError
from rowspace.workload.sql_queries.text import SqlText

if TYPE_CHECKING:
    from sqlglot import exp


@dataclass(frozen=True)
class Columns:
    """Resolves the columns of one statement; `tables` are the names its table goes by, in lower case."""

    domain: Domain
    text: SqlText
    tables: frozenset[str]
    start: int
    selected: frozenset[str] | None = None  # what a subquery hands on, in lower case; None is everything

    def name(self, column: exp.Column) -> str:
        """The attribute or level a column means.

        As in SQL, names without quotes are matched in any case, unless that would be ambiguous.
        """
        given = column.name
        if column.table and column.table.lower() not in self.tables:
            raise self.error(column, f"{column.table!r} is not the table of this statement")
        if self.selected is not None and given.lower() not in self.selected:
            raise self.error(
                column, f"the subquery does not select {given!r}; select it there, or write SELECT *"
            )
        if given not in self._names() and not column.this.args.get("quoted"):
            alike = [name for name in self._names() if name.lower() == given.lower()]
            given = alike[0] if len(alike) == 1 else given
        if given not in self._names():
            given = self._read_from(given, Dates) or given
        try:
            self.domain.resolve(given)
        except InvalidDomain as error:
            # "Male" is a name in SQL, whatever it was meant to be.
            hint = f"; a text stands in single quotes: '{given}'" if column.this.args.get("quoted") else ""
            raise self.error(column, f"{error}{hint}") from None
        return given

    def reading(self, column: exp.Column, kind: type[Attribute]) -> str | None:
        """The attribute of a kind that is a column, or is read from it; None when there is none."""
        found = self._read_from(column.name, kind)
        if found is None and column.name.lower() not in (
            self.domain.column(n).lower() for n in self.domain.names
        ):
            self.name(column)  # a stranger altogether
        return found

    def _read_from(self, column: str, kind: type[Attribute]) -> str | None:
        """The one attribute of a kind that is read from a column, or has its name."""
        found = [
            name
            for name, attribute in self.domain.attributes
            if isinstance(attribute, kind)
            and column.lower() in (name.lower(), self.domain.column(name).lower())
        ]
        return found[0] if len(found) == 1 else column if column in found else None

    def position(self, node: exp.Expr) -> int:
        """Where a piece of a statement begins, or what it is part of when the parser does not tell."""
        around: exp.Expr | None = node
        while around is not None:
            places = [piece.meta.get("start") for piece in around.walk() if piece.meta]
            known = [place for place in places if isinstance(place, int)]
            if known:
                return min(known)
            around = around.parent
        return self.start

    def error(self, node: exp.Expr, message: str) -> PredicateError:
        """The error at a piece of a statement."""
        return self.text.error(message, self.position(node))

    def knows(self, name: str) -> bool:
        """Whether the domain has an attribute or level of this name, in any case."""
        return name.lower() in {known.lower() for known in self._names()}

    def _names(self) -> list[str]:
        levels = [
            name for _, attribute in self.domain.attributes for name in getattr(attribute, "levels", ())
        ]
        return [*self.domain.names, *levels]
