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

from rowspace.workload.sql_queries.layout import Heading, Layout, columns_of, name_of, read_layout
from rowspace.workload.sql_queries.selects import read_sql
from rowspace.workload.sql_queries.statements import SqlText, require_shallow

__all__ = [
    "Heading",
    "Layout",
    "SqlText",
    "columns_of",
    "name_of",
    "read_layout",
    "read_sql",
    "require_shallow",
]
