"""Strategies and workloads without cells: one weighted table per set of attributes, whatever the number of cells.

>>> from rowspace import tables
>>> A = tables.Marginals((10,) * 30, ((0, 1), (2, 3)), (1, 3))
>>> A.shape == (200, 10**30)
True
"""

from rowspace.operators import Operator

from .answers import answer_products, asked_of
from .elimination import Elimination
from .estimates import ComponentTables
from .inverse import TableInverse
from .lattice import SubsetLattice, mask_of, members
from .layout import along
from .marginals import Marginals, marginal_splits
from .placement import woven_entries
from .product_rows import (
    DistinctColumns,
    ProductRows,
    Vectors,
    distinct_columns,
    distinct_rows,
    product_rows,
    tied_axes,
)
from .product_workload import (
    Piece,
    ProductWorkload,
    gather,
    is_cells,
    piece_costs,
    row_tables,
    subsets_in_order,
)
from .query_mix import QueryMix, classes
from .reading import as_products, products_of
from .residuals import Residuals
from .splits import CellSplit, ContrastSplit, MarginalSplit, MatrixSplit, Split, root
from .table_operator import TableOperator

__all__ = [
    "CellSplit",
    "ComponentTables",
    "ContrastSplit",
    "DistinctColumns",
    "Elimination",
    "MarginalSplit",
    "Marginals",
    "MatrixSplit",
    "Piece",
    "ProductRows",
    "ProductWorkload",
    "QueryMix",
    "Residuals",
    "Split",
    "SubsetLattice",
    "TableInverse",
    "TableOperator",
    "Vectors",
    "along",
    "answer_products",
    "as_products",
    "asked_of",
    "classes",
    "distinct_columns",
    "distinct_rows",
    "gather",
    "is_cells",
    "marginal_splits",
    "mask_of",
    "members",
    "piece_costs",
    "product_rows",
    "products_of",
    "root",
    "row_tables",
    "subsets_in_order",
    "tied_axes",
    "woven_entries",
]

# What files of 0.1 call them.
Operator.registry["ProductMarginals"] = Marginals
Operator.registry["ProductResiduals"] = Residuals
