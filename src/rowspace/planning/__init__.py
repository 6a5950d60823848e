"""Plans: strategy, predicted error and certificate, all before data is touched."""

from .choosing import CELL_LIMIT, plan
from .considered import Considered, considered
from .groups import GroupError
from .integers import MAX_RECORDS, check_overflow, dropped_bits, record_limit, to_integers
from .plan import Candidate, Plan
from .population import interval_words, population
from .target_text import Target, parse_target
from .targets import Met, TargetPlan, plan_for
from .whatif import WhatIf, recalibrated, whatif

__all__ = [
    "CELL_LIMIT",
    "MAX_RECORDS",
    "Candidate",
    "Considered",
    "GroupError",
    "Met",
    "Plan",
    "Target",
    "TargetPlan",
    "WhatIf",
    "check_overflow",
    "considered",
    "dropped_bits",
    "interval_words",
    "parse_target",
    "plan",
    "plan_for",
    "population",
    "recalibrated",
    "record_limit",
    "to_integers",
    "whatif",
]
