"""Releases: answers with error bars, free answers to any supported query, exports."""

from .answer_columns import ROUNDING_BITS, AnswerRows, answer_rows, answer_table, notes_of
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
from .combined import Combined, CombinedPlan, Guarantees, combine, combined_statement
from .combined_answers import Answers, ByCells, ByStrategy, ByTables, Columns, answers_from
from .consistent import Consistent
from .derived import Estimate, along
from .derived_tables import CrossTable
from .discovered import DISCOVERY_KIND, Discovery
from .estimate_fit import EstimateFit, estimate_fit
from .estimated import TableEstimate
from .evidence import Evidence, as_queries, measurement_of
from .export import EXPORTS, check_export, export, exported_files
from .instalment import Instalment
from .means import STEADY_DENOMINATOR, is_normal, rows_with_means
from .registry import FILL_IN, SECTORS, registry_entry, registry_yaml
from .release import TABLE_LIMIT, Release

__all__ = [
    "DISCOVERY_KIND",
    "EXPORTS",
    "FILL_IN",
    "ROUNDING_BITS",
    "SECTORS",
    "STEADY_DENOMINATOR",
    "TABLE_LIMIT",
    "AnswerRows",
    "Answers",
    "ByCells",
    "ByStrategy",
    "ByTables",
    "ChartAxis",
    "ChartTable",
    "Columns",
    "Combined",
    "CombinedPlan",
    "Consistent",
    "CrossTable",
    "Discovery",
    "Estimate",
    "EstimateFit",
    "Estimates",
    "Evidence",
    "Guarantees",
    "Instalment",
    "Release",
    "TableEstimate",
    "along",
    "answer_rows",
    "answer_table",
    "answers_from",
    "answers_of",
    "as_queries",
    "chart_axis",
    "chart_table",
    "check_export",
    "combine",
    "combined_statement",
    "cumulative",
    "estimate_fit",
    "export",
    "exported_files",
    "histogram",
    "is_normal",
    "measurement_of",
    "missing_records",
    "notes_of",
    "registry_entry",
    "registry_yaml",
    "rows_with_means",
]
