"""Queries as people type them: conditions or SQL."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby

from rowspace.domain import Domain
from rowspace.exceptions import InvalidWorkload
from rowspace.workload.sql_queries import sql
from rowspace.workload.texts import naming, predicates
from rowspace.workload.union import Workload

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


def is_sql(text: str) -> bool:
    """Whether a query is meant as SQL."""
    return _SQL.match(text) is not None
