"""Strategies: what to ask of the data so that a workload's answers have the least error.

The paper's own optimizers that planning does not use are in a second package: see `_research`.
"""

from typing import TYPE_CHECKING

from rowspace import _research

from .against_facts import AgainstFacts, facts_bound, public_tables
from .asked import IntegerCandidate, as_asked, placed
from .augment import Augment, augment
from .bounds import (
    dual_bound,
    replace_one_bound,
    root_diagonal_bound,
    singular_value_bound,
    unit_lower_bound,
)
from .classical import IdentityStrategy, WorkloadItself
from .corrected import Corrected, informed
from .evidence import CHANCE, AgainstEvidence
from .evidence_tables import AgainstTables
from .facts import FEW_CELLS, Fact, Facts
from .gaussian_optimal import GaussianOptimal, WorstQueryResult
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
from .laplace_bound import best_lower_bound, laplace_bound
from .least_squares import least_squares
from .marginals import Marginals
from .min_error import MinError
from .open_cells import OpenCells
from .p_identity import PIdentity
from .participation import SPREAD_CELLS, Horizon, in_several_cells, is_spread, step_over
from .parts import asked_of_parts
from .pooled import (
    CELLS_AT_ONCE,
    Measured,
    Pooled,
    alike,
    averaged,
    carried_by_one,
    stacked,
    united,
    widest,
    widest_shape,
    within_digits,
)
from .product import Product
from .product_bounds import products_bound
from .residual import Residual
from .result import Optimizer, Result
from .row_space_optimal import RowSpaceOptimal
from .selection import ALMOST, GOOD_ENOUGH, Select, Selected, select
from .singular_value import SingularValue
from .spectral import Spectral
from .spread import also_tried, spread_bound, spread_optimum
from .strategy import CellStrategy, Reconstruction, Strategy, TableReconstruction, TableStrategy
from .table_evidence import precisions, same_rows, split_alike
from .union import Union

if TYPE_CHECKING:
    from rowspace_paper.optimizers import MinErrorSDP as MinErrorSDP
    from rowspace_paper.optimizers import MinSensitivity as MinSensitivity
    from rowspace_paper.optimizers import MinSensitivityProgram as MinSensitivityProgram
    from rowspace_paper.optimizers import RegularizedGaussian as RegularizedGaussian
    from rowspace_paper.optimizers import Rotated as Rotated
    from rowspace_paper.optimizers import least_sensitivity as least_sensitivity

from .causal import periods_of_rows as periods_of_rows
from .causal import rows_of_period as rows_of_period
from .causal import until as until
from .causal import with_memory as with_memory
from .causal import with_time as with_time
from .causal_search import STORED_PERIODS as STORED_PERIODS
from .causal_search import causal_results as causal_results
from .causal_search import judged as judged
from .causal_search import recurring_bound as recurring_bound

__all__ = [
    "ALMOST",
    "CELLS_AT_ONCE",
    "CHANCE",
    "FEW_CELLS",
    "GOOD_ENOUGH",
    "MAX_RECORDS",
    "SPREAD_CELLS",
    "AgainstEvidence",
    "AgainstFacts",
    "AgainstTables",
    "Augment",
    "CellStrategy",
    "Corrected",
    "Fact",
    "Facts",
    "GaussianOptimal",
    "Hierarchical",
    "Horizon",
    "IdentityStrategy",
    "IntegerCandidate",
    "Marginals",
    "Measured",
    "MinError",
    "OpenCells",
    "Optimizer",
    "PIdentity",
    "Pooled",
    "Product",
    "Reconstruction",
    "Residual",
    "Result",
    "RowSpaceOptimal",
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
    "alike",
    "also_tried",
    "as_asked",
    "asked_of_parts",
    "augment",
    "averaged",
    "best_lower_bound",
    "calibrated_noise",
    "carried_by_one",
    "check_overflow",
    "dropped_bits",
    "dual_bound",
    "facts_bound",
    "in_several_cells",
    "informed",
    "is_spread",
    "laplace_bound",
    "least_squares",
    "noisy_values",
    "placed",
    "precisions",
    "products_bound",
    "public_tables",
    "record_limit",
    "replace_one_bound",
    "root_diagonal_bound",
    "same_rows",
    "select",
    "singular_value_bound",
    "split_alike",
    "spread_bound",
    "spread_optimum",
    "stacked",
    "step_over",
    "to_integers",
    "unit_lower_bound",
    "united",
    "widest",
    "widest_shape",
    "within_digits",
]

_RESEARCH = [
    "MinErrorSDP",
    "MinSensitivity",
    "MinSensitivityProgram",
    "RegularizedGaussian",
    "Rotated",
    "least_sensitivity",
]
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
