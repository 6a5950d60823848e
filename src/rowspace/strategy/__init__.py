"""Strategies: what to ask of the data so that a workload's answers have the least error."""

from .augment import Augment, augment
from .bounds import (
    dual_bound,
    replace_one_bound,
    root_diagonal_bound,
    singular_value_bound,
    unit_lower_bound,
)
from .classical import IdentityStrategy, WorkloadItself
from .gaussian_optimal import GaussianOptimal, RegularizedGaussian, WorstQueryResult
from .hierarchical import Hierarchical, Taxonomy, Wavelet
from .p_identity import PIdentity
from .product import Product
from .result import Optimizer, Result
from .select import Select
from .singular_value import SingularValue
from .union import Union

__all__ = [
    "Augment",
    "GaussianOptimal",
    "Hierarchical",
    "IdentityStrategy",
    "Optimizer",
    "PIdentity",
    "Product",
    "RegularizedGaussian",
    "Result",
    "Select",
    "SingularValue",
    "Taxonomy",
    "Union",
    "Wavelet",
    "WorkloadItself",
    "WorstQueryResult",
    "augment",
    "dual_bound",
    "replace_one_bound",
    "root_diagonal_bound",
    "singular_value_bound",
    "unit_lower_bound",
]
