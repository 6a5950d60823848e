"""Plans: strategy, predicted error and certificate, all before data is touched."""

from .choosing import CELL_LIMIT, plan
from .integers import MAX_RECORDS, check_overflow, dropped_bits, to_integers
from .plan import Candidate, GroupError, Plan

__all__ = [
    "CELL_LIMIT",
    "MAX_RECORDS",
    "Candidate",
    "GroupError",
    "Plan",
    "check_overflow",
    "dropped_bits",
    "plan",
    "to_integers",
]
