"""Counting queries in SQL, read by sqlglot against the declared domain; never executed.

The way of a text: `statements` cuts and parses it, `selects` reads each statement (`subjects`, `conditions`, `truths`,
`counts`), `parts` turns each count and grouping into a product of factors, and `selects` puts them together.

What is read (keywords in any case)::

    statement = SELECT item {, item} FROM table [[AS] alias] [WHERE condition] [GROUP BY grouping] [ORDER BY ...]
    item      = key [AS alias] | count [AS alias]
    count     = COUNT(*) | COUNT(1) | COUNT(*) FILTER (WHERE condition) | COUNT_IF(condition)
              | COUNT(CASE WHEN condition THEN value END) | SUM(CASE WHEN condition THEN 1 ELSE 0 END)
              | SUM(measure) | AVG(measure) | COUNT(measure) | VAR_POP(measure) | STDDEV_POP(measure)
              | VAR_SAMP(measure) | STDDEV_SAMP(measure) | COUNT(DISTINCT unit), each [FILTER (WHERE condition)]
    key       = column | level of a taxonomy | CASE WHEN condition THEN value ... [ELSE value] END
    grouping  = key, number of an item, or its alias; CUBE (...), ROLLUP (...), GROUPING SETS (...)
    condition = AND, OR, NOT, parentheses over: column = <> < <= > >= value, value on the left, BETWEEN, IN (values),
                a boolean column, IS [NOT] TRUE, IS [NOT] NULL, TRUE, FALSE

Comparisons mean what they mean in `rowspace.workload.predicate`: thresholds must fall on bin edges, or the domain has
no exact answer and the query is refused. Grouping by a numeric column gives its declared bins. A record whose value
is missing is in no group and no comparison (or in the column's bucket for everything else). ORDER BY changes no number,
so it is ignored. AVG asks for a sum and a number of records, a variance for the sum of squares as well; a release makes
one of them. COUNT(DISTINCT unit) is planned where units are counted once in a cell.
"""

from __future__ import annotations

import os

from rowspace.domain import Domain
from rowspace.workload.union import Workload

__all__ = ["sql"]


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
    from rowspace.workload.sql_queries.selects import read_sql  # here: sqlglot takes a while to load

    return read_sql(domain, text)
