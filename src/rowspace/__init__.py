"""rowspace: a whole workload of counting queries under differential privacy, with the least noise privacy allows.

>>> import rowspace as rs
>>> domain = rs.Domain(age=rs.Numeric(0, 100, bins=100), sex=rs.Categorical(["F", "M"]))
>>> w = rs.workload.ranges(domain, "age") + rs.workload.marginals(domain, up_to=2)
>>> plan = rs.plan(w, rs.PureDP(epsilon=1.0))
>>> plan.ratio >= 1
True
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ._version import __version__

if TYPE_CHECKING:
    from . import error, operators, privacy, strategy, workload
    from .bounding import Bounds, bounds
    from .discovery import discover
    from .domain import Categorical, Dates, DayOfWeek, Domain, HourOfDay, Measure, Numeric
    from .exceptions import RowspaceError
    from .formats import CSV
    from .instalments import instalment
    from .ledger import Ledger
    from .mechanism import release
    from .planning import Plan, Target, plan_for
    from .planning.choosing import plan
    from .privacy import ZCDP, ApproxDP, Neighbours, PrivacyUnit, PureDP
    from .releases import Combined, Discovery, Release, combine
    from .releases.export import export
    from .session import Session
    from .study import Check, Study, check
    from .workload import Workload

__all__ = [
    "CSV",
    "ZCDP",
    "ApproxDP",
    "Bounds",
    "Categorical",
    "Check",
    "Combined",
    "Dates",
    "DayOfWeek",
    "Discovery",
    "Domain",
    "HourOfDay",
    "Ledger",
    "Measure",
    "Neighbours",
    "Numeric",
    "Plan",
    "PrivacyUnit",
    "PureDP",
    "Release",
    "RowspaceError",
    "Session",
    "Study",
    "Target",
    "Workload",
    "__version__",
    "bounds",
    "check",
    "combine",
    "discover",
    "error",
    "export",
    "instalment",
    "operators",
    "plan",
    "plan_for",
    "privacy",
    "release",
    "strategy",
    "workload",
]

_HOMES = {
    "bounding": ("Bounds", "bounds"),
    "discovery": ("discover",),
    "domain": ("Categorical", "Dates", "DayOfWeek", "Domain", "HourOfDay", "Measure", "Numeric"),
    "exceptions": ("RowspaceError",),
    "formats": ("CSV",),
    "instalments": ("instalment",),
    "ledger": ("Ledger",),
    "mechanism": ("release",),
    "planning": ("Plan", "Target", "plan", "plan_for"),
    "privacy": ("ZCDP", "ApproxDP", "Neighbours", "PrivacyUnit", "PureDP"),
    "releases": ("Combined", "Discovery", "Release", "combine", "export"),
    "session": ("Session",),
    "study": ("Check", "Study", "check"),
    "workload": ("Workload",),
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Load what is named when it is first used: the command line must be able to stop before numpy is there."""
        for home, names in _HOMES.items():
            if name in names:
                return globals().setdefault(name, getattr(import_module(f"{__name__}.{home}"), name))
        if not name.startswith("_") and find_spec(f"{__name__}.{name}") is not None:
            return import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        """What is public, loaded or not."""
        return sorted(__all__)
