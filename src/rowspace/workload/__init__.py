"""Queries in the user's words: weighted unions of products, always implicit.

>>> import rowspace.workload as workload
>>> from rowspace.domain import Categorical, Domain, Numeric
>>> domain = Domain(age=Numeric(0, 100, bins=100), sex=Categorical(["F", "M"]))
>>> w = workload.ranges(domain, "age") + 4 * workload.marginals(domain, up_to=2)
>>> w.size, w.label(1800)
(5353, 'age in [19, 91)')
"""

from rowspace.workload.factors import Cells, Factor, Intervals, LevelCells, Matrix
from rowspace.workload.families import (
    cube,
    identity,
    marginal,
    marginals,
    prefixes,
    product,
    ranges,
    total,
    widths,
)
from rowspace.workload.matrices import matrix
from rowspace.workload.measured import mean, standard_deviation, sum, valued, variance
from rowspace.workload.part import Part
from rowspace.workload.sql_queries import sql
from rowspace.workload.sums import Mean, Means, MeasureSum, Squares, Valued
from rowspace.workload.texts import predicates
from rowspace.workload.union import Workload

__all__ = [
    "Cells",
    "Factor",
    "Intervals",
    "LevelCells",
    "Matrix",
    "Mean",
    "Means",
    "MeasureSum",
    "Part",
    "Squares",
    "Valued",
    "Workload",
    "cube",
    "identity",
    "marginal",
    "marginals",
    "matrix",
    "mean",
    "predicates",
    "prefixes",
    "product",
    "ranges",
    "sql",
    "standard_deviation",
    "sum",
    "total",
    "valued",
    "variance",
    "widths",
]
