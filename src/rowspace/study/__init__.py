"""The study file: what is counted, what is asked and what is promised, in one TOML text that people can review.

    file        the keys that there are, as pydantic models: tree → domain, workload, promise; JSON Schema for editors
    study       the whole file as a value, read within limits
    writing     a study as text, and a first one from a look at the data, for its curator only
    checking    a study beside the data, for its curator only    findings    what that found, in words

A study holds public knowledge only. Reading one never opens data.
"""

from .checking import CHECK_WARNING, Check, check
from .checking import HEADINGS as HEADINGS
from .findings import Finding
from .study import DataPlace, Study
from .study import located as located
from .study import parse_text as parse_text
from .study import read_text as read_text
from .writing import DATA_WARNING, draft_study, write_study
from .writing import attribute_block as attribute_block
from .writing import entry_block as entry_block
from .writing import line as line

__all__ = [
    "CHECK_WARNING",
    "DATA_WARNING",
    "Check",
    "DataPlace",
    "Finding",
    "Study",
    "check",
    "draft_study",
    "write_study",
]
