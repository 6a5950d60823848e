"""Releases: answers with error bars, free answers to any supported query, exports."""

from .answer_columns import AnswerRows, answer_rows, answer_table
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
from .combined import Combined, CombinedPlan, combine, combined_statement
from .combined_answers import answers_from
from .consistent import Consistent
from .derived import Estimate
from .derived_quantiles import checked_quantiles
from .derived_tables import CrossTable
from .discovered import DISCOVERY_KIND, Discovery
from .estimated import TableEstimate
from .evidence import Evidence, as_queries, measurement_of
from .export import EXPORTS, check_export, export, exported_files
from .notes import notes_of
from .release import TABLE_LIMIT, Release

__all__ = [
    "DISCOVERY_KIND",
    "EXPORTS",
    "TABLE_LIMIT",
    "AnswerRows",
    "ChartAxis",
    "ChartTable",
    "Combined",
    "CombinedPlan",
    "Consistent",
    "CrossTable",
    "Discovery",
    "Estimate",
    "Estimates",
    "Evidence",
    "Release",
    "TableEstimate",
    "answer_rows",
    "answer_table",
    "answers_from",
    "answers_of",
    "as_queries",
    "chart_axis",
    "chart_table",
    "check_export",
    "checked_quantiles",
    "combine",
    "combined_statement",
    "cumulative",
    "export",
    "exported_files",
    "histogram",
    "measurement_of",
    "missing_records",
    "notes_of",
]
