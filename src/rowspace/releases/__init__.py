"""Releases: answers with error bars, free answers to any supported query, exports."""

from .combined import Combined, combine
from .consistent import Consistent
from .derived import Estimate
from .derived_tables import CrossTable
from .export import export
from .release import TABLE_LIMIT, Release

__all__ = ["TABLE_LIMIT", "Combined", "Consistent", "CrossTable", "Estimate", "Release", "combine", "export"]
