"""Queries in the user's words: weighted unions of products, always implicit.

>>> import rowspace.workload as workload
>>> from rowspace.domain import Categorical, Domain, Numeric
>>> domain = Domain(age=Numeric(0, 100, bins=100), sex=Categorical(["F", "M"]))
>>> w = workload.ranges(domain, "age") + 4 * workload.marginals(domain, up_to=2)
>>> w.size, w.label(1800)
(5353, 'age in [19, 91)')
"""

from rowspace.workload.ended import among as among
from rowspace.workload.ended import ended as ended
from rowspace.workload.ended import within as within
from rowspace.workload.factors import Cells, Factor, Intervals, LevelCells, Matrix
from rowspace.workload.factors import missing_label as missing_label
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
from rowspace.workload.sums import SPREADS as SPREADS
from rowspace.workload.sums import Mean, Means, MeasureSum, Squares, Valued
from rowspace.workload.sums import measured as measured
from rowspace.workload.texts import asked as asked
from rowspace.workload.texts import naming as naming
from rowspace.workload.texts import predicates, sql
from rowspace.workload.texts import words_of as words_of
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
