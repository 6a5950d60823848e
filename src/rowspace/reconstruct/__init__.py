"""From noisy answers to consistent estimates: least squares, which sees noisy numbers only."""

from .least_squares import estimate_counts, estimate_tables
from .table_answers import answer_products

__all__ = ["answer_products", "estimate_counts", "estimate_tables"]
