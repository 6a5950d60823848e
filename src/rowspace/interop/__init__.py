"""Bridges to other libraries, each in a module of its own that is imported by name and needs that library.

rowspace.interop.opendp   a plan as an OpenDP measurement
rowspace.interop.mbi      a release as noisy marginals for mbi, which makes synthetic data of them
frames                    tables of answers for polars, Arrow and numpy
"""

from .frames import to_arrow, to_numpy, to_polars

__all__ = ["to_arrow", "to_numpy", "to_polars"]
