"""Releases: answers with error bars, free answers to any supported query, exports."""

from .answer_columns import ROUNDING_BITS as ROUNDING_BITS
from .answer_columns import AnswerRows, answer_rows, answer_table, notes_of
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
from .combined import Guarantees as Guarantees
from .combined_answers import Answers as Answers
from .combined_answers import ByCells as ByCells
from .combined_answers import ByStrategy as ByStrategy
from .combined_answers import ByTables as ByTables
from .combined_answers import Columns as Columns
from .combined_answers import answers_from
from .consistent import Consistent
from .derived import Estimate
from .derived import along as along
from .derived_quantiles import checked_quantiles as checked_quantiles
from .derived_tables import CrossTable
from .discovered import DISCOVERY_KIND, Discovery
from .estimate_fit import EstimateFit as EstimateFit
from .estimate_fit import estimate_fit as estimate_fit
from .estimated import TableEstimate
from .evidence import Evidence, as_queries, measurement_of
from .export import EXPORTS, check_export, export, exported_files
from .instalment import Instalment as Instalment
from .means import STEADY_DENOMINATOR as STEADY_DENOMINATOR
from .means import is_normal as is_normal
from .means import rows_with_means as rows_with_means
from .registry import FILL_IN as FILL_IN
from .registry import SECTORS as SECTORS
from .registry import registry_entry as registry_entry
from .registry import registry_yaml as registry_yaml
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
