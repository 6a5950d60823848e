"""Counting queries in SQL, read by sqlglot against the declared domain; never executed.

The way of a text: `statements` cuts and parses it, `selects` reads one statement (`columns`, `conditions`, `cases`,
`counts`, `grouping`), `parts` turns each count and grouping into a product of factors, `reading` puts them together.

What is read (keywords in any case)::

    statement = SELECT item {, item} FROM table [[AS] alias] [WHERE condition] [GROUP BY grouping] [ORDER BY ...]
    item      = key [AS alias] | count [AS alias]
    count     = COUNT(*) | COUNT(1) | COUNT(*) FILTER (WHERE condition) | COUNT_IF(condition)
              | COUNT(CASE WHEN condition THEN value END) | SUM(CASE WHEN condition THEN 1 ELSE 0 END)
    key       = column | level of a taxonomy | CASE WHEN condition THEN value ... [ELSE value] END
    grouping  = key, number of an item, or its alias; CUBE (...), ROLLUP (...), GROUPING SETS (...)
    condition = AND, OR, NOT, parentheses over: column = <> < <= > >= value, value on the left, BETWEEN, IN (values),
                a boolean column, IS [NOT] TRUE, IS [NOT] NULL, TRUE, FALSE

Comparisons mean what they mean in `rowspace.workload.predicate`: thresholds must fall on bin edges, or the domain has
no exact answer and the query is refused. Grouping by a numeric column gives its declared bins. A record whose value
is missing is in no group and no comparison (or in the column's bucket for everything else). ORDER BY changes no number,
so it is ignored.
"""

from rowspace.workload.sql_queries.reading import sql

__all__ = ["sql"]
