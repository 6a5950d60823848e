"""Several measurements as one estimate, and non-negative or whole counts near it; it sees noisy numbers only."""

from .joint_tables import JointTables, joint_tables
from .measurement import Measurement, joint_estimate, merged, whitened
from .nonnegative import ROUGH, NonnegativeCells, nonnegative_cells
from .nonnegative_tables import NonnegativeTables, TableFamily, largest_sets, weighted_family
from .row_repairs import cell_numbers, repaired_rows
from .table_rows import Codes, drawn_rows
from .whole_numbers import whole_cells

__all__ = [
    "ROUGH",
    "Codes",
    "JointTables",
    "Measurement",
    "NonnegativeCells",
    "NonnegativeTables",
    "TableFamily",
    "cell_numbers",
    "drawn_rows",
    "joint_estimate",
    "joint_tables",
    "largest_sets",
    "merged",
    "nonnegative_cells",
    "repaired_rows",
    "weighted_family",
    "whitened",
    "whole_cells",
]
