"""Strategies: what to ask of the data so that a workload's answers have the least error."""

from .bounds import replace_one_bound, singular_value_bound, unit_lower_bound
from .classical import IdentityStrategy, WorkloadItself
from .hierarchical import Hierarchical, Taxonomy, Wavelet
from .product import Product
from .result import Optimizer, Result
from .select import Select

__all__ = [
    "Hierarchical",
    "IdentityStrategy",
    "Optimizer",
    "Product",
    "Result",
    "Select",
    "Taxonomy",
    "Wavelet",
    "WorkloadItself",
    "replace_one_bound",
    "singular_value_bound",
    "unit_lower_bound",
]
