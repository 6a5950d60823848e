"""Plans: strategy, predicted error and certificate, all before data is touched."""

from .balancing import Met
from .candidate import Candidate
from .choosing import CELL_LIMIT, plan
from .considered import Considered, considered
from .discovering import DiscoveryPlan
from .facts import Known, is_count, known_facts
from .found import check_found, counts_of, found_rows, measured_rows
from .groups import GroupError
from .people import check_people
from .plan import Plan
from .population import interval_words, population, summed_values
from .purpose import Purpose, for_purpose
from .target_text import Target, parse_target
from .targets import TargetPlan, plan_for
from .targets_given import MetAlready
from .whatif import WhatIf, recalibrated, whatif

__all__ = [
    "CELL_LIMIT",
    "Candidate",
    "Considered",
    "DiscoveryPlan",
    "GroupError",
    "Known",
    "Met",
    "MetAlready",
    "Plan",
    "Purpose",
    "Target",
    "TargetPlan",
    "WhatIf",
    "check_found",
    "check_people",
    "considered",
    "counts_of",
    "for_purpose",
    "found_rows",
    "interval_words",
    "is_count",
    "known_facts",
    "measured_rows",
    "parse_target",
    "plan",
    "plan_for",
    "population",
    "recalibrated",
    "summed_values",
    "whatif",
]
