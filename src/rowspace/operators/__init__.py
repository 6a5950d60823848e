"""Structured matrices: pure linear algebra, one structure a file, nothing about privacy or data.

>>> from rowspace import operators as op
>>> H = op.Hierarchy(2**20)               # two million rows, stored as three numbers
>>> H.max_column_norm(1)
21.0
"""

from .base import DECOMPOSITION_LIMIT, DENSE_LIMIT, Operator
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
from .marginals import Marginals
from .merged import Merged
from .p_identity import PIdentity
from .padded import Padded
from .permuted import Permuted
from .predicates import AllPredicates
from .prefix import Difference, Prefix
from .product_marginals import ProductMarginals
from .product_residuals import ProductResiduals
from .ranges import Ranges, RangesGram, SecondDifference
from .residuals import Residuals
from .scaled import Scaled, Weighted
from .sparse import Sparse
from .spectral import Spectral
from .spectral_integers import SpectralIntegers
from .stack import Stack
from .subset_operator import SubsetOperator
from .table_operator import TableOperator
from .total import Total, UniformGram
from .transpose import Transpose
from .tree import Tree
from .waves import Cosines, Sines
from .width_ranges import WidthRanges

__all__ = [
    "DECOMPOSITION_LIMIT",
    "DENSE_LIMIT",
    "AllPredicates",
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
    "Marginals",
    "Merged",
    "Operator",
    "PIdentity",
    "Padded",
    "Permuted",
    "Prefix",
    "ProductMarginals",
    "ProductResiduals",
    "Ranges",
    "RangesGram",
    "Residuals",
    "Scaled",
    "SecondDifference",
    "Sines",
    "Sparse",
    "Spectral",
    "SpectralIntegers",
    "Stack",
    "SubsetOperator",
    "Sum",
    "TableOperator",
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
