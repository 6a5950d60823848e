"""From noisy answers to consistent estimates: least squares, which sees noisy numbers only."""

from .least_squares import estimate_counts

__all__ = ["estimate_counts"]
