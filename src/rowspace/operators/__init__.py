"""Structured matrices: pure linear algebra, one structure a file, nothing about privacy or data.

>>> from rowspace import operators as op
>>> H = op.Hierarchy(2**20)               # two million rows, stored as three numbers
>>> H.max_column_norm(1)
21.0
"""

from .base import DECOMPOSITION_LIMIT, DENSE_LIMIT, Operator
from .codec import decode, encode
from .composed import Composed, Sum
from .dense import Dense, Sparse, as_operator
from .diagonal import Diagonal, Identity
from .haar import Haar
from .kronecker import Kronecker
from .layers import Layers
from .p_identity import PIdentity
from .padded import Extended, Padded
from .permuted import Merged, Permuted
from .ranges import Difference, Prefix, Ranges, RangesGram, SecondDifference
from .scaled import Scaled, Transpose, Weighted
from .spectral import Spectral, SpectralIntegers
from .stack import Stack
from .total import CellContrasts, Total, UniformGram
from .tree import Hierarchy, Tree
from .waves import Cosines, Sines
from .windows import AllPredicates, WidthRanges

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
    "Weighted",
    "WidthRanges",
    "as_operator",
    "decode",
    "encode",
]
