"""Strategies and workloads without cells: one weighted table per set of attributes, whatever the number of cells.

>>> from rowspace import tables
>>> A = tables.Marginals((10,) * 30, ((0, 1), (2, 3)), (1, 3))
>>> A.shape == (200, 10**30)
True
"""

from rowspace.operators import Operator

from .answers import answer_products
from .estimates import ComponentTables
from .inverse import TableInverse
from .lattice import SubsetLattice, mask_of, members
from .marginals import Marginals, marginal_splits
from .product_workload import Piece, ProductWorkload, gather, is_cells, piece_costs, subsets_in_order
from .reading import as_products, products_of
from .residuals import Residuals
from .splits import CellSplit, ContrastSplit, MarginalSplit, MatrixSplit, Split
from .table_operator import TableOperator

__all__ = [
    "CellSplit",
    "ComponentTables",
    "ContrastSplit",
    "MarginalSplit",
    "Marginals",
    "MatrixSplit",
    "Piece",
    "ProductWorkload",
    "Residuals",
    "Split",
    "SubsetLattice",
    "TableInverse",
    "TableOperator",
    "answer_products",
    "as_products",
    "gather",
    "is_cells",
    "marginal_splits",
    "mask_of",
    "members",
    "piece_costs",
    "products_of",
    "subsets_in_order",
]

# What files of 0.1 call them.
Operator.registry["ProductMarginals"] = Marginals
Operator.registry["ProductResiduals"] = Residuals
