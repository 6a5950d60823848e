"""Plans: strategy, predicted error and certificate, all before data is touched."""

from .across import Across as Across
from .across import Point as Point
from .across import Shape as Shape
from .balancing import Met
from .candidate import Candidate
from .choosing import CELL_LIMIT, Effort, Objective, plan, plan_over
from .considered import Considered, considered
from .discovering import DiscoveryPlan, checked_discovery
from .discovering import discovery_plan as discovery_plan
from .facts import Known, is_count, known_facts
from .found import check_found, counts_of, found_rows, measured_rows
from .groups import GroupError
from .known import checked_plan, private_copy, require_known_privacy
from .known import checked_strategy as checked_strategy
from .known import is_known as is_known
from .people import check_people
from .periods import over_periods, period_labels, period_number, plan_until
from .places import is_over_box, own_cells
from .plan import Plan
from .population import interval_words, population, summed_values
from .purpose import Purpose, for_purpose
from .target_text import Target, parse_target, targets_of_groups
from .targets import CAP, TargetPlan, plan_for
from .targets_given import MetAlready
from .whatif import WhatIf, budget, budget_for, budget_name, recalibrated, rounded_up, whatif, with_budget

__all__ = [
    "CAP",
    "CELL_LIMIT",
    "Candidate",
    "Considered",
    "DiscoveryPlan",
    "Effort",
    "GroupError",
    "Known",
    "Met",
    "MetAlready",
    "Objective",
    "Plan",
    "Purpose",
    "Target",
    "TargetPlan",
    "WhatIf",
    "budget",
    "budget_for",
    "budget_name",
    "check_found",
    "check_people",
    "checked_discovery",
    "checked_plan",
    "considered",
    "counts_of",
    "for_purpose",
    "found_rows",
    "interval_words",
    "is_count",
    "is_over_box",
    "known_facts",
    "measured_rows",
    "over_periods",
    "own_cells",
    "parse_target",
    "period_labels",
    "period_number",
    "plan",
    "plan_for",
    "plan_over",
    "plan_until",
    "population",
    "private_copy",
    "recalibrated",
    "require_known_privacy",
    "rounded_up",
    "summed_values",
    "targets_of_groups",
    "whatif",
    "with_budget",
]
