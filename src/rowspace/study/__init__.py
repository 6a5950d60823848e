"""The study file: what is counted, what is asked and what is promised, in one TOML text that people can review.

    file        the keys that there are, as pydantic models: tree → domain, workload, promise; JSON Schema for editors
    study       the whole file as a value, read within limits
    writing     a study as text, and a first one from a look at the data, for its curator only
    checking    a study beside the data, for its curator only    findings    what that found, in words

A study holds public knowledge only. Reading one never opens data.
"""

from .checking import CHECK_WARNING, HEADINGS, Check, check
from .findings import Finding
from .study import DataPlace, Study, located, parse_text, read_text
from .writing import DATA_WARNING, attribute_block, draft_study, entry_block, line, write_study

__all__ = [
    "CHECK_WARNING",
    "DATA_WARNING",
    "HEADINGS",
    "Check",
    "DataPlace",
    "Finding",
    "Study",
    "attribute_block",
    "check",
    "draft_study",
    "entry_block",
    "line",
    "located",
    "parse_text",
    "read_text",
    "write_study",
]
