"""Structured matrices: pure linear algebra, one structure a file, nothing about privacy or data.

>>> from rowspace import operators as op
>>> H = op.Hierarchy(2**20)               # two million rows, stored as three numbers
>>> H.max_column_norm(1)
21.0
"""

from .base import DECOMPOSITION_LIMIT, DENSE_LIMIT, Operator, check_operators
from .checks import (
    Array,
    Indices,
    Vector,
    check_number,
    check_size,
    check_supported,
    read_only,
    rounding_scale,
)
from .codec import decode, encode
from .composed import Composed, Sum
from .dense import Dense, Sparse, as_operator
from .diagonal import Diagonal, Identity
from .fading import Fading
from .fading_memory import blocks_before as blocks_before
from .fading_memory import condensed as condensed
from .fading_memory import counted as counted
from .fading_memory import remembered as remembered
from .fallback import check_decomposable, dense_profile, inverse_gram
from .haar import Haar
from .kinds import rounded_weights
from .kronecker import Kronecker
from .layers import MOST_LAYER_SETS, Layers
from .levels import Levels as Levels
from .p_identity import PIdentity
from .padded import Extended, Padded
from .permuted import Merged, Permuted
from .ranges import Difference, Prefix, Ranges, RangesGram, SecondDifference
from .rounding import exact_sums, rounded_columns
from .scaled import Scaled, Transpose, Weighted
from .spectral import Spectral, SpectralIntegers
from .stack import Stack, lean_gram
from .total import CellContrasts, Total, UniformGram
from .tree import Hierarchy, Tree
from .waves import Cosines, Sines
from .windows import AllPredicates, WidthRanges

__all__ = [
    "DECOMPOSITION_LIMIT",
    "DENSE_LIMIT",
    "MOST_LAYER_SETS",
    "AllPredicates",
    "Array",
    "CellContrasts",
    "Composed",
    "Cosines",
    "Dense",
    "Diagonal",
    "Difference",
    "Extended",
    "Fading",
    "Haar",
    "Hierarchy",
    "Identity",
    "Indices",
    "Kronecker",
    "Layers",
    "Merged",
    "Operator",
    "PIdentity",
    "Padded",
    "Permuted",
    "Prefix",
    "Ranges",
    "RangesGram",
    "Scaled",
    "SecondDifference",
    "Sines",
    "Sparse",
    "Spectral",
    "SpectralIntegers",
    "Stack",
    "Sum",
    "Total",
    "Transpose",
    "Tree",
    "UniformGram",
    "Vector",
    "Weighted",
    "WidthRanges",
    "as_operator",
    "check_decomposable",
    "check_number",
    "check_operators",
    "check_size",
    "check_supported",
    "decode",
    "dense_profile",
    "encode",
    "exact_sums",
    "inverse_gram",
    "lean_gram",
    "read_only",
    "rounded_columns",
    "rounded_weights",
    "rounding_scale",
]
