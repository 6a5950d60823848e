"""Strategies: what to ask of the data so that a workload's answers have the least error.

The paper's own optimizers that planning does not use are in a second package: see `_research`.
"""

from typing import TYPE_CHECKING

from rowspace import _research

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
from .min_error import MinError
from .p_identity import PIdentity
from .product import Product
from .residual import Residual
from .result import Optimizer, Result
from .selection import Select, Selected, select
from .singular_value import SingularValue
from .spectral import Spectral
from .strategy import CellStrategy, Reconstruction, Strategy, TableReconstruction, TableStrategy
from .union import Union

if TYPE_CHECKING:
    from rowspace_paper.optimizers import MinErrorSDP as MinErrorSDP
    from rowspace_paper.optimizers import MinSensitivity as MinSensitivity
    from rowspace_paper.optimizers import MinSensitivityProgram as MinSensitivityProgram
    from rowspace_paper.optimizers import Rotated as Rotated
    from rowspace_paper.optimizers import least_sensitivity as least_sensitivity

__all__ = [
    "MAX_RECORDS",
    "Augment",
    "CellStrategy",
    "GaussianOptimal",
    "Hierarchical",
    "IdentityStrategy",
    "Marginals",
    "MinError",
    "Optimizer",
    "PIdentity",
    "Product",
    "Reconstruction",
    "RegularizedGaussian",
    "Residual",
    "Result",
    "Select",
    "Selected",
    "SingularValue",
    "Spectral",
    "Strategy",
    "TableReconstruction",
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

_RESEARCH = ["MinErrorSDP", "MinSensitivity", "MinSensitivityProgram", "Rotated", "least_sensitivity"]
if _research.installed():
    __all__ += _RESEARCH  # what is listed can be had, with the second package and without

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Load a name of the second package when it is first used."""
        if name in _RESEARCH:
            found = getattr(_research.load("optimizers", f"strategy.{name}"), name)
            return globals().setdefault(name, found)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        """What is public, loaded or not."""
        return sorted(__all__)
