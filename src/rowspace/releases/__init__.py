"""Releases: answers with error bars, free answers to any supported query, exports."""

from .chart_data import (
    ChartAxis,
    ChartTable,
    Estimates,
    answers_of,
    chart_axis,
    chart_table,
    cumulative,
    histogram,
    missing_records,
)
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
    "ChartAxis",
    "ChartTable",
    "Combined",
    "Consistent",
    "CrossTable",
    "Estimate",
    "Estimates",
    "Release",
    "answers_of",
    "chart_axis",
    "chart_table",
    "check_export",
    "combine",
    "cumulative",
    "export",
    "exported_files",
    "histogram",
    "missing_records",
    "notes_of",
]
