"""The paper's optimizers that planning does not use: `rowspace.strategy` has them by the same names."""

from .min_error_sdp import MinErrorSDP
from .min_sensitivity import MinSensitivity, Rotated, least_sensitivity
from .min_sensitivity_program import MinSensitivityProgram
from .regularized_gaussian import RegularizedGaussian

__all__ = [
    "MinErrorSDP",
    "MinSensitivity",
    "MinSensitivityProgram",
    "RegularizedGaussian",
    "Rotated",
    "least_sensitivity",
]
