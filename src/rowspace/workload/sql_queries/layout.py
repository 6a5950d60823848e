"""Where the answers of one SELECT stand in the table that SQL promises: its items as columns, its groups as rows.

A workload lists its queries count after count. An SQL client expects the columns it selected, the labels of groups
beside their counts, NULL where CUBE sums a key out, and rows ordered and cut as it says. ORDER BY and LIMIT are about
answers that are there already, so they cost nothing and choose no question.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from rowspace.domain import Categorical, Dates, Domain, Numeric
from rowspace.exceptions import InvalidWorkload, RowspaceError, TooLarge
from rowspace.workload.conditions import Conditions
from rowspace.workload.factors import Factor
from rowspace.workload.part import Part
from rowspace.workload.predicate.meaning import holds
from rowspace.workload.predicate.syntax import Value
from rowspace.workload.sql_queries.counts import CaseKey, Key, KeyReader, NameKey
from rowspace.workload.sql_queries.selects import SelectQuery, read_select, reader_of, workload_of
from rowspace.workload.sql_queries.statements import SqlStatement, SqlText, ending_at, read_statements, shown
from rowspace.workload.sql_queries.subjects import Columns
from rowspace.workload.sql_queries.truths import Truth

Label = str | int | None
_Cell = tuple[np.intp, ...]

_NAMES: dict[type[exp.Expr], str] = {exp.Case: "case", exp.Sum: "sum", exp.Avg: "avg", exp.Extract: "extract"}
_CUT = re.compile(
    r"\s*(?:limit\s+(all|\d{1,9}))?\s*(?:offset\s+(\d{1,9})(?:\s+rows?)?)?(?:[\s;]|--[^\n]*|/\*.*?\*/)*",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True)
class Heading:
    """A column as SQL names it. kind: "figure" of answers; "number" or "text" of labels."""

    name: str
    kind: str


@dataclass(frozen=True)
class Layout:
    """The table of one SELECT.

    question: the text without LIMIT, whose workload the answers are of. rows: a label, or the number of an answer in
    a column of figures, None where no record can be counted there. size: how many answers there are.
    """

    question: str
    columns: tuple[Heading, ...]
    rows: tuple[tuple[Label, ...], ...]
    size: int
    order: tuple[tuple[int, bool], ...]
    first: int
    last: int | None

    def arranged(self, answers: Sequence[float | None]) -> list[tuple[Label, ...]]:
        """The rows as ORDER BY and LIMIT say, once the answers are known; labels in the order of the study."""
        found = list(self.rows)
        for at, descending in reversed(self.order):
            if self.columns[at].kind == "figure":
                ranks = [(None if row[at] is None else answers[int(row[at] or 0)]) or 0.0 for row in found]
            else:
                seen = dict.fromkeys(row[at] for row in self.rows if row[at] is not None)
                place = {label: number for number, label in enumerate(seen)}
                ranks = [float(place.get(row[at], len(place))) for row in found]
            by_rank = sorted(range(len(found)), key=ranks.__getitem__, reverse=descending)
            found = [found[number] for number in by_rank]
        return found[self.first : self.last]


def columns_of(domain: Domain, text: str) -> tuple[Heading, ...]:
    """The columns of a SELECT, which depend on no value in it."""
    return _columns(_one(SqlText(_cut(text)[0])).select, domain)


def read_layout(domain: Domain, text: str, most: int) -> Layout:
    """The table of one SELECT. most: answers that it may have.

    Raises:
        PredicateError: As `rowspace.workload.sql` does, or a row order that is about something else.
        TooLarge: There are more answers.
    """
    question, first, last = _cut(text)
    source = SqlText(question)
    select = read_select(_one(source), domain, source)
    workload = workload_of(domain, [select], source)
    if workload.size > most:
        raise TooLarge(f"{workload.size:,} answers exceed {most:,} at a time; ask for a part")
    columns = _columns(select.statement.select, domain)
    size = workload.shown.size
    rows = _GroupRows(select, columns, source, domain).read(list(workload.shown.parts))
    return Layout(question, columns, rows, size, _order(select, columns, source), first, last)


def _one(source: SqlText) -> SqlStatement:
    found = list(read_statements(source))
    if len(found) != 1:
        raise InvalidWorkload(f"expected one SELECT at a time, got {len(found)}")
    return found[0]


def _cut(text: str) -> tuple[str, int, int | None]:
    """A text without its LIMIT and OFFSET, and the rows they leave; whatever else they say is left to be refused."""
    end = ending_at(SqlText(text), ("LIMIT", "OFFSET"))
    found = None if end is None else _CUT.fullmatch(text, end)
    if found is None:
        return text, 0, None
    first = int(found[2] or 0)
    return text[:end], first, None if found[1] in (None, "all", "ALL") else first + int(found[1])


def _columns(select: exp.Select, domain: Domain) -> tuple[Heading, ...]:
    return tuple(
        Heading(name_of(item), "figure" if _counts(item) else "number" if _is_whole(item, domain) else "text")
        for item in select.expressions
    )


def _counts(item: exp.Expr) -> bool:
    return item.find(exp.AggFunc) is not None


def name_of(item: exp.Expr) -> str:
    """What PostgreSQL calls a column."""
    if isinstance(item, exp.Alias | exp.Column):
        return str(item.alias_or_name)
    body = item.unnest()
    while isinstance(body, exp.Filter | exp.Dot | exp.Cast):
        body = body.expression if isinstance(body, exp.Dot) else body.this
    if isinstance(body, exp.CurrentVersion):
        return "version"
    if isinstance(body, exp.Anonymous | exp.Column):
        return str(body.name)
    default = (
        "count" if _counts(body) else body.sql_name().lower() if isinstance(body, exp.Func) else "?column?"
    )
    return _NAMES.get(type(body), default)


def _is_whole(item: exp.Expr, domain: Domain) -> bool:
    """Whether the labels of a selected column are whole numbers, one for each cell."""
    body = item.unalias()
    if not isinstance(body, exp.Column):
        return False
    try:
        plain = exp.Column(this=body.this.copy())
        name, level = domain.resolve(Columns(domain, SqlText(""), frozenset(), 0).name(plain))
    except RowspaceError:
        return False
    attribute = domain.dimension(name)
    if isinstance(attribute, Categorical):
        labels = attribute.cell_labels if level is None else domain.level(level).labels
        return all(type(label) is int for label in labels)
    whole = isinstance(attribute, Numeric) and not isinstance(attribute, Dates) and attribute.integer
    return whole and attribute.edge(attribute.size) - attribute.edge(0) == attribute.size


def _order(select: SelectQuery, columns: Sequence[Heading], source: SqlText) -> tuple[tuple[int, bool], ...]:
    """The columns that rows are ordered by."""
    tree = select.statement.select
    order = tree.args.get("order")
    found = []
    for term in order.expressions if order is not None else ():
        body = term.this.unnest()
        at = _selected(body, tree.expressions, [column.name.lower() for column in columns])
        if at is None:
            said = (
                f"ORDER BY {shown(body)} is about something that is not selected; select it, or name a column"
            )
            raise source.error(said, select.statement.position)
        found.append((at, bool(term.args.get("desc"))))
    return tuple(found)


def _selected(body: exp.Expr, items: Sequence[exp.Expr], names: Sequence[str]) -> int | None:
    """Which item a term of ORDER BY is: by number, by name, or written again."""
    if isinstance(body, exp.Literal) and str(body.this).isdecimal():
        at = int(str(body.this)[:6]) - 1
        return at if 0 <= at < len(items) else None
    if isinstance(body, exp.Column) and body.name.lower() in names:
        return names.index(body.name.lower())
    return next((at for at, item in enumerate(items) if item.unalias().unnest() == body), None)


@dataclass(frozen=True)
class _GroupRows:
    """Puts the answers of all counts of one group into one row."""

    select: SelectQuery
    columns: Sequence[Heading]
    source: SqlText
    domain: Domain

    def read(self, parts: list[Part]) -> tuple[tuple[Label, ...], ...]:
        """The rows, in the order of the groups. parts: those of the workload, then its means."""
        items = self._keys()
        starts = np.cumsum([0, *(part.size for part in parts)])
        numbers = self._parts()
        found: dict[tuple[object, ...], list[Label]] = {}
        for which, keys in enumerate(self.select.key_sets):
            for count, number in zip(
                self._figures(), (next(numbers[which]) for _ in self._figures()), strict=True
            ):
                for place, labels in enumerate(self._labels(parts[number], keys)):
                    row = found.get((which, labels))
                    if row is None:
                        by_key = dict(zip(keys, labels, strict=True))
                        row = [None if key is None else by_key.get(key) for key in items]
                        found[which, labels] = row
                    if row[count] is not None:
                        raise InvalidWorkload(
                            "two groups of this SELECT have the same label; tell them apart"
                        )
                    row[count] = int(starts[number]) + place
        return tuple(map(tuple, found.values()))

    def _figures(self) -> list[int]:
        return [at for at, column in enumerate(self.columns) if column.kind == "figure"]

    def _keys(self) -> list[Key | None]:
        """The key that each item is; None for a count."""
        tree = self.select.statement.select
        reader = KeyReader(reader_of(self.select, self.domain, self.source), tree.expressions)
        each = zip(tree.expressions, self.columns, strict=True)
        return [None if column.kind == "figure" else reader.key(item) for item, column in each]

    def _parts(self) -> list[Iterator[int]]:
        """For every set of keys, the part of each count; a mean has two, and its own after all of them."""
        sets = len(self.select.key_sets)
        widths = [2 if count.of == "mean" else 1 for count in self.select.counts]
        mean = sets * sum(widths)
        found: list[list[int]] = [[] for _ in range(sets)]
        at = 0
        for count, width in zip(self.select.counts, widths, strict=True):
            for which in range(sets):
                found[which].append(mean if count.of == "mean" else at)
                mean += count.of == "mean"
                at += width
        return [iter(numbers) for numbers in found]

    def _labels(self, part: Part, keys: Sequence[Key]) -> Iterator[tuple[Label, ...]]:
        """The labels of the keys for every query of a part."""
        shape = [factor.size for factor in part.factors]
        at = np.unravel_index(np.arange(part.size), shape) if shape else ()
        columns: list[list[Label]] = []
        for key in keys:
            own = {self.domain.resolve(name)[0] for name in key.names}
            number = next(
                (n for n, factor in enumerate(part.factors) if own and own <= set(factor.attributes)), None
            )
            if number is None:  # a CASE that is the same for every record
                columns.append([_constant(key)] * part.size)
                continue
            words = self._words(key, part.factors[number])
            columns.append([words[row] for row in at[number].tolist()])
        return zip(*columns, strict=True) if columns else iter([()] * part.size)

    def _words(self, key: Key, factor: Factor) -> list[Label]:
        """The label of a key for each row of the factor that it is in."""
        whole = isinstance(key, NameKey) and _is_whole(exp.column(key.name, quoted=True), self.domain)
        if not isinstance(factor, Conditions):
            words = factor.entries(np.arange(factor.size))
            return [int(word) for word in words] if whole else list(words)
        first = factor.rows.indices[factor.rows.indptr[:-1]]
        cells = np.unravel_index(first, factor.domain.shape)
        label = self._label(key, factor.domain)
        found = [label(cell) for cell in zip(*cells, strict=True)]
        return [None if word is None else int(word) if whole else _text(word) for word in found]

    def _label(self, key: Key, domain: Domain) -> Callable[[_Cell], Value | None]:
        """What a key is on a joint cell of a domain."""
        if isinstance(key, CaseKey):
            each = [(_where(branch.condition, domain, self.source), branch.value) for branch in key.branches]
            return partial(_chosen, each)
        name, level = domain.resolve(key.name) if isinstance(key, NameKey) else (key.subject.name, None)
        attribute, axis = domain.dimension(name), domain.position(name)
        if isinstance(key, NameKey):
            own = None if level is None else domain.level(level)
            labels = (
                attribute.labels() if own is None else [own.label(group) for group in own.groups.tolist()]
            )
            return lambda cell: None if cell[axis] == attribute.size else labels[cell[axis]]
        codes = key.codes(attribute, self.source)

        def step(cell: _Cell) -> Value | None:
            if cell[axis] == attribute.size:
                return None
            if key.subject.part is not None:
                return int(codes[cell[axis]])
            same = np.flatnonzero(codes == codes[cell[axis]])
            return attribute.span_label(int(same[0]), int(same[-1]))

        return step


def _where(condition: Truth, domain: Domain, source: SqlText) -> npt.NDArray[np.bool_]:
    everywhere = np.broadcast_to(np.bool_(condition is True), domain.shape)
    return everywhere if isinstance(condition, bool) else holds(condition, domain, source)


def _chosen(branches: list[tuple[npt.NDArray[np.bool_], Value | None]], cell: _Cell) -> Value | None:
    """The value of the first branch that holds on a cell."""
    return next(value for where, value in branches if where[cell])


def _constant(key: Key) -> Label:
    value = (
        next((b.value for b in key.branches if b.condition is True), None)
        if isinstance(key, CaseKey)
        else None
    )
    return None if value is None else _text(value)


def _text(value: Value) -> str:
    return (
        str(value).lower()
        if isinstance(value, bool)
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
    )
