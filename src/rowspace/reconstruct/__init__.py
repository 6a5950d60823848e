"""Several measurements as one estimate, and non-negative or whole counts near it; it sees noisy numbers only."""

from .joint_tables import JointTables, Measurement, joint_estimate, joint_tables, merged, whitened
from .nonnegative import ROUGH, NonnegativeCells, nonnegative_cells, raked, whole_cells
from .nonnegative_tables import NonnegativeTables, TableFamily, largest_sets, weighted_family
from .ratio_prior import expected_deviations
from .table_estimate import EstimatedTable, EstimatedTables, estimated_tables
from .table_rows import Codes, cell_numbers, drawn_rows, repaired_rows

__all__ = [
    "ROUGH",
    "Codes",
    "EstimatedTable",
    "EstimatedTables",
    "JointTables",
    "Measurement",
    "NonnegativeCells",
    "NonnegativeTables",
    "TableFamily",
    "cell_numbers",
    "drawn_rows",
    "estimated_tables",
    "expected_deviations",
    "joint_estimate",
    "joint_tables",
    "largest_sets",
    "merged",
    "nonnegative_cells",
    "raked",
    "repaired_rows",
    "weighted_family",
    "whitened",
    "whole_cells",
]
