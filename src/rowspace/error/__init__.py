"""Error analysis: how much error a strategy has on a query, a workload, or in any direction.

>>> import rowspace as rs
>>> from rowspace import error, operators as op
>>> round(error.total_error(op.Hierarchy(4), op.Ranges(4), rs.PureDP(1.0)), 3)
125.143
"""

from .analysis import max_error, noise_level, profile_trace, query_errors, query_variances, total_error
from .intervals import (
    COARSE,
    FEW_TERMS,
    RARE,
    beside_another,
    half_widths,
    is_as_shown,
    normal_quantile,
    selected_intervals,
    standard_quantile,
)
from .moments import COEFFICIENTS, FINE_LATTICE, Moments, by_factors, moments, table_moments
from .profile import (
    Decomposition,
    decompose,
    plot_profile,
    profile,
    profile_equivalent,
    strategy_from_profile,
)

__all__ = [
    "COARSE",
    "COEFFICIENTS",
    "FEW_TERMS",
    "FINE_LATTICE",
    "RARE",
    "Decomposition",
    "Moments",
    "beside_another",
    "by_factors",
    "decompose",
    "half_widths",
    "is_as_shown",
    "max_error",
    "moments",
    "noise_level",
    "normal_quantile",
    "plot_profile",
    "profile",
    "profile_equivalent",
    "profile_trace",
    "query_errors",
    "query_variances",
    "selected_intervals",
    "standard_quantile",
    "strategy_from_profile",
    "table_moments",
    "total_error",
]
