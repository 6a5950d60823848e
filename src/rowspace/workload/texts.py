"""Workloads from texts: predicates and SQL."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby

from rowspace.domain import Domain
from rowspace.exceptions import InvalidWorkload, RowspaceError
from rowspace.workload.conditions import Conditions, check_entries
from rowspace.workload.part import Part
from rowspace.workload.predicate import JointCondition, split
from rowspace.workload.predicate.meaning import check_work
from rowspace.workload.union import Workload

Product = list[JointCondition]

_LONGEST_SHOWN = 60


def predicates(domain: Domain, texts: Iterable[str]) -> Workload:
    """One query per text, such as ``"age >= 65 and sex = 'F'"``, in the order given.

    domain: the attributes. texts: one condition, or several.

    Texts are parsed, never evaluated; the grammar is in `rowspace.workload.predicate`. A conjunction over
    separate attributes becomes a product. Consecutive predicates that differ in one factor only share a part.

    Cost: the joint cells of attributes that a predicate couples, never those of the domain.

    >>> from rowspace.domain import Categorical, Numeric
    >>> domain = Domain(age=Numeric(0, 100, bins=100), sex=Categorical(["F", "M"]))
    >>> w = predicates(domain, ["age >= 65 and sex = 'F'", "age < 18 or age >= 65"])
    >>> w.labels()
    ["age >= 65 and sex = 'F'", 'age < 18 or age >= 65']
    >>> w.table()["age"]
    ['[65, 100)', '[0, 18) or [65, 100)']

    Raises:
        PredicateError: A text does not parse, names a stranger, cuts a bin, or never holds.
        TooLarge: A condition couples attributes with too many joint cells.
    """
    if isinstance(texts, str):
        texts = [texts]
    elif not isinstance(texts, Iterable):
        raise InvalidWorkload(f"predicates must be a list of texts, got {type(texts).__name__}")
    if not isinstance(domain, Domain):
        raise InvalidWorkload(f"a workload needs a Domain first, got {type(domain).__name__}")
    products: list[Product] = []
    entries = work = 0
    several = not (isinstance(texts, Sequence) and len(texts) == 1)
    for text in texts:
        with naming(text, several):
            products.append(split(text, domain))
        entries += sum(len(component.cells) for component in products[-1])
        work += sum(component.work for component in products[-1])
        check_entries(entries)
        check_work(work)
    if not products:
        raise InvalidWorkload('predicates needs at least one text, such as "age >= 65"')
    return Workload(domain, [_part(run, varying) for run, varying in _runs(products)])


@contextmanager
def naming(text: object, several: bool) -> Iterator[None]:
    """Say, before the message of any error of ours raised inside, which of several queries it is about."""
    try:
        yield
    except RowspaceError as error:
        if several and isinstance(text, str):
            shown = text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"
            error.args = (f"query {shown!r}: {error}", *error.args[1:])
        raise


def _part(run: list[Product], varying: int) -> Part:
    """Build the part of products that differ in one component only."""
    factors = [
        Conditions.of([product[at] for product in run] if at == varying else [component])
        for at, component in enumerate(run[0])
    ]
    return Part(tuple(factors), name="predicates")


def _runs(products: list[Product]) -> list[tuple[list[Product], int]]:
    """Cut a list into runs of consecutive products that differ in at most one component, and say which."""
    runs: list[tuple[list[Product], int]] = []
    run, varying = [products[0]], None
    for product in products[1:]:
        differing = _difference(run[0], product)
        if differing is not None and (not differing or varying is None or differing == [varying]):
            run.append(product)
            varying = differing[0] if differing else varying
        else:
            runs.append((run, varying or 0))
            run, varying = [product], None
    runs.append((run, varying or 0))
    return runs


def _difference(left: Product, right: Product) -> list[int] | None:
    """Return the component (none or one) in which two products differ, or None when they differ in more."""
    if [_cells_of(component) for component in left] != [_cells_of(component) for component in right]:
        return None
    pairs = enumerate(zip(left, right, strict=True))
    differing = [at for at, (one, other) in pairs if one.condition != other.condition]
    return differing if len(differing) <= 1 else None


def _cells_of(component: JointCondition) -> tuple[tuple[str, ...], int]:
    """What tells the cells of two components of one domain apart: a place for missing values is one more."""
    return component.domain.names, component.domain.size


def sql(domain: Domain, text: str | os.PathLike[str]) -> Workload:
    """Counting queries in SQL, one or many separated by ``;``, as one workload to be answered jointly.

    ``SELECT [groups,] COUNT(*) FROM t [WHERE ...] [GROUP BY ...]``; what is read is in `rowspace.workload.sql_queries`.
    A path is a file to read; a str is SQL. Nothing is sent to a database: the text becomes a workload over `domain`.

    Every statement is a group, called by a comment ``-- name: elderly`` before it, else by the alias of its count when
    no other statement has it, else ``query 3``. Conjunctions on separate attributes become products.

    >>> from rowspace.domain import Categorical, Numeric
    >>> domain = Domain(age=Numeric(0, 100, bins=100), sex=Categorical(["F", "M"]))
    >>> w = sql(domain, '''
    ...     SELECT sex, COUNT(*) AS elderly FROM people WHERE age >= 65 GROUP BY sex;
    ...     SELECT COUNT(*) FROM people WHERE age < 18 OR sex = 'F' ''')
    >>> w.labels()
    ['age >= 65 and sex = F', 'age >= 65 and sex = M', "age < 18 or sex = 'F'"]
    >>> w.table()["group"]
    ['elderly', 'elderly', 'query 2']

    Raises:
        PredicateError: Not a linear counting query over the domain; the message has line, column and the reason.
        TooLarge: Conditions couple attributes with too many joint cells, or there are too many groups.
    """
    from rowspace.workload.sql_queries import read_sql  # here: sqlglot takes a while to load

    return read_sql(domain, text)


# SELECT or WITH ... AS, after comments; `selected = true` is a condition.
_SQL = re.compile(
    r"(?:\s|--[^\n]*\n|/\*.*?\*/)*(?:select\b(?!\s*[=<>!])|with\s+\S+\s+as\b)", re.IGNORECASE | re.DOTALL
)


def asked(domain: Domain, texts: str | Iterable[str]) -> Workload:
    """The queries of some texts in the order given: SQL where a text begins with SELECT, else conditions.

    >>> from rowspace.domain import Categorical, Numeric
    >>> domain = Domain(age=Numeric(0, 100, bins=100), sex=Categorical(["F", "M"]))
    >>> asked(domain, ["age < 18", "SELECT sex, COUNT(*) FROM people GROUP BY sex"]).labels()
    ['age < 18', 'sex = F', 'sex = M']

    Raises:
        PredicateError: A text is neither.
    """
    given = [texts] if isinstance(texts, str) else list(texts) if isinstance(texts, Iterable) else []
    if not given or not all(isinstance(text, str) for text in given):
        raise InvalidWorkload('expected a workload or predicates as text such as "age >= 65", or SQL')
    found: list[Workload] = []
    for in_sql, run in groupby(given, key=is_sql):
        alike = list(run)
        if not in_sql and len(alike) > 1:
            found.append(predicates(domain, alike))  # which says itself what it cannot read
            continue
        for text in alike:
            with naming(text, several=len(given) > 1):
                found.append(sql(domain, text) if in_sql else predicates(domain, text))
    return sum(found[1:], found[0])


def words_of(texts: Sequence[str], parts: Sequence[Workload]) -> list[str]:
    """Words for every answer: a condition as it was typed; SQL has several answers, each with words of its own.

    parts: the queries of each text.
    """
    each = zip(texts, parts, strict=True)
    words = [label for text, part in each for label in (part.labels() if is_sql(text) else [text])]
    # Means come after everything else that was asked.
    return words + [label for part in parts for label in part.shown.labels(part.size)]


def is_sql(text: str) -> bool:
    """Whether a query is meant as SQL."""
    return _SQL.match(text) is not None
