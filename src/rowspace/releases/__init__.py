"""Releases: answers with error bars, free answers to any supported query, exports."""

from .combined import Combined, combine
from .consistent import Consistent
from .derived import Estimate
from .derived_tables import CrossTable
from .export import EXPORTS, check_export, export, exported_files
from .notes import notes_of
from .release import TABLE_LIMIT, Release

__all__ = [
    "EXPORTS",
    "TABLE_LIMIT",
    "Combined",
    "Consistent",
    "CrossTable",
    "Estimate",
    "Release",
    "check_export",
    "combine",
    "export",
    "exported_files",
    "notes_of",
]
