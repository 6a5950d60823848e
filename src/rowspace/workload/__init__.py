"""Queries in the user's words: weighted unions of products, always implicit.

>>> import rowspace.workload as workload
>>> from rowspace.domain import Categorical, Domain, Numeric
>>> domain = Domain(age=Numeric(0, 100, bins=100), sex=Categorical(["F", "M"]))
>>> w = workload.ranges(domain, "age") + 4 * workload.marginals(domain, up_to=2)
>>> w.size, w.label(1800)
(5353, 'age in [19, 91)')
"""

from rowspace.workload.ended import among, ended, within
from rowspace.workload.factors import Cells, Factor, Intervals, LevelCells, Matrix, missing_label
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
from rowspace.workload.sums import SPREADS, Mean, Means, MeasureSum, Squares, Valued, measured
from rowspace.workload.texts import asked, naming, predicates, sql, words_of
from rowspace.workload.union import Workload

__all__ = [
    "SPREADS",
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
    "among",
    "asked",
    "cube",
    "ended",
    "identity",
    "marginal",
    "marginals",
    "matrix",
    "mean",
    "measured",
    "missing_label",
    "naming",
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
    "within",
    "words_of",
]
