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
from .integers import (
    MAX_RECORDS,
    calibrated_noise,
    check_overflow,
    dropped_bits,
    noisy_values,
    record_limit,
    to_integers,
)
from .least_squares import least_squares
from .marginals import Marginals
from .min_error_sdp import MinErrorSDP
from .min_sensitivity import MinSensitivity, Rotated, least_sensitivity
from .min_sensitivity_program import MinSensitivityProgram
from .p_identity import PIdentity
from .product import Product
from .residual import Residual
from .result import Optimizer, Result
from .selection import Select, Selected, select
from .singular_value import SingularValue
from .spectral import Spectral
from .strategy import CellStrategy, Estimate, Strategy, TableEstimate, TableStrategy
from .union import Union

__all__ = [
    "MAX_RECORDS",
    "Augment",
    "CellStrategy",
    "Estimate",
    "GaussianOptimal",
    "Hierarchical",
    "IdentityStrategy",
    "Marginals",
    "MinErrorSDP",
    "MinSensitivity",
    "MinSensitivityProgram",
    "Optimizer",
    "PIdentity",
    "Product",
    "RegularizedGaussian",
    "Residual",
    "Result",
    "Rotated",
    "Select",
    "Selected",
    "SingularValue",
    "Spectral",
    "Strategy",
    "TableEstimate",
    "TableStrategy",
    "Taxonomy",
    "Union",
    "Wavelet",
    "WorkloadItself",
    "WorstQueryResult",
    "augment",
    "calibrated_noise",
    "check_overflow",
    "dropped_bits",
    "dual_bound",
    "least_sensitivity",
    "least_squares",
    "noisy_values",
    "record_limit",
    "replace_one_bound",
    "root_diagonal_bound",
    "select",
    "singular_value_bound",
    "to_integers",
    "unit_lower_bound",
]
