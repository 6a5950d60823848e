"""Structured matrices: pure linear algebra, one structure a file, nothing about privacy or data.

>>> from rowspace import operators as op
>>> H = op.Hierarchy(2**20)               # two million rows, stored as three numbers
>>> H.max_column_norm(1)
21.0
"""

from .base import DECOMPOSITION_LIMIT, DENSE_LIMIT, Operator
from .cell_contrasts import CellContrasts
from .codec import decode, encode
from .composed import Composed, Sum
from .dense import Dense
from .diagonal import Diagonal
from .extended import Extended
from .given import as_operator
from .haar import Haar
from .hierarchy import Hierarchy
from .identity import Identity
from .kronecker import Kronecker
from .merged import Merged
from .p_identity import PIdentity
from .padded import Padded
from .permuted import Permuted
from .predicates import AllPredicates
from .prefix import Difference, Prefix
from .ranges import Ranges, RangesGram, SecondDifference
from .scaled import Scaled, Weighted
from .sparse import Sparse
from .spectral import Spectral
from .spectral_integers import SpectralIntegers
from .stack import Stack
from .total import Total, UniformGram
from .transpose import Transpose
from .tree import Tree
from .waves import Cosines, Sines
from .width_ranges import WidthRanges

__all__ = [
    "DECOMPOSITION_LIMIT",
    "DENSE_LIMIT",
    "AllPredicates",
    "CellContrasts",
    "Composed",
    "Cosines",
    "Dense",
    "Diagonal",
    "Difference",
    "Extended",
    "Haar",
    "Hierarchy",
    "Identity",
    "Kronecker",
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
    "Weighted",
    "WidthRanges",
    "as_operator",
    "decode",
    "encode",
]
