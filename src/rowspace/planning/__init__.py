"""Plans: strategy, predicted error and certificate, all before data is touched."""

from .choosing import CELL_LIMIT, plan
from .considered import Considered, considered
from .groups import GroupError
from .plan import Candidate, Plan
from .population import interval_words, population
from .target_text import Target, parse_target
from .targets import Met, TargetPlan, plan_for
from .whatif import WhatIf, recalibrated, whatif

__all__ = [
    "CELL_LIMIT",
    "Candidate",
    "Considered",
    "GroupError",
    "Met",
    "Plan",
    "Target",
    "TargetPlan",
    "WhatIf",
    "considered",
    "interval_words",
    "parse_target",
    "plan",
    "plan_for",
    "population",
    "recalibrated",
    "whatif",
]
