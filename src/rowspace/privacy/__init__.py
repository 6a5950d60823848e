"""What is promised, and how much noise the promise needs.

A `Privacy` (PureDP, ApproxDP, ZCDP, with its `Neighbours`) is a guarantee. `sensitivity` and `integer_norm`
say how far one neighbour step moves a strategy's answers; `Privacy.noise` turns that into a `NoiseModel`, an
exact distribution on the integers, always rounded toward more noise. Nothing here draws noise or sees data.

    definitions   the guarantees                       sensitivities of a strategy, exact for integer ones
    models        the noise, as mathematics            lattice       its moments and characteristic functions
    calibration   (ε, δ) to σ, certified               normal_tail   the privacy curve, by interval arithmetic
    rounding      upward, by integers                  intervals     decimal interval arithmetic
    filters       (ε, δ) to ρ, for budgets             accounting is in the room of the ledger
    neighbours    what a record's change can be        units         whose rows are protected together
    odds          what anyone can conclude             validation    of parameters
    thresholds    what shows that a key exists
"""

from .calibration import (
    analytic_gaussian_sigma,
    gaussian_delta,
    paper_gaussian_sigma,
    paper_gaussian_variance,
    zcdp_to_approx,
)
from .definitions import (
    ZCDP,
    ApproxDP,
    ApproxDPTheorem3,
    OddsBound,
    Privacy,
    PureDP,
    odds_bound,
    privacy_from_dict,
)
from .filters import concentrated_limit, gaussian_limit, gaussian_rho, on_grid, pure_rho
from .models import DiscreteGaussian, DiscreteLaplace, NoiseModel, RoundedGaussian, noise_from_dict
from .sensitivities import integer_norm, sensitivity
from .thresholds import GaussianThreshold, Threshold, TruncatedLaplace, threshold
from .units import Neighbours, PrivacyUnit

__all__ = [
    "ZCDP",
    "ApproxDP",
    "ApproxDPTheorem3",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "GaussianThreshold",
    "Neighbours",
    "NoiseModel",
    "OddsBound",
    "Privacy",
    "PrivacyUnit",
    "PureDP",
    "RoundedGaussian",
    "Threshold",
    "TruncatedLaplace",
    "analytic_gaussian_sigma",
    "concentrated_limit",
    "gaussian_delta",
    "gaussian_limit",
    "gaussian_rho",
    "integer_norm",
    "noise_from_dict",
    "odds_bound",
    "on_grid",
    "paper_gaussian_sigma",
    "paper_gaussian_variance",
    "privacy_from_dict",
    "pure_rho",
    "sensitivity",
    "threshold",
    "zcdp_to_approx",
]
