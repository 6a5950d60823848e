"""rowspace: a whole workload of counting queries under differential privacy, with the least noise privacy allows.

>>> import rowspace as rs
>>> domain = rs.Domain(age=rs.Numeric(0, 100, bins=100), sex=rs.Categorical(["F", "M"]))
>>> w = rs.workload.ranges(domain, "age") + rs.workload.marginals(domain, up_to=2)
>>> plan = rs.plan(w, rs.PureDP(epsilon=1.0))
>>> plan.ratio >= 1
True
"""

from . import error, operators, privacy, strategy, workload
from ._version import __version__
from .domain import Categorical, Domain, Numeric
from .exceptions import RowspaceError
from .mechanism import release
from .planning import Plan, Target, plan, plan_for
from .privacy import ZCDP, ApproxDP, Neighbours, PureDP
from .releases import Combined, Release, combine, export
from .workload import Workload

__all__ = [
    "ZCDP",
    "ApproxDP",
    "Categorical",
    "Combined",
    "Domain",
    "Neighbours",
    "Numeric",
    "Plan",
    "PureDP",
    "Release",
    "RowspaceError",
    "Target",
    "Workload",
    "__version__",
    "combine",
    "error",
    "export",
    "operators",
    "plan",
    "plan_for",
    "privacy",
    "release",
    "strategy",
    "workload",
]
