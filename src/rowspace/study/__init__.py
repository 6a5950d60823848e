"""The study file: what is counted, what is asked and what is promised, in one TOML text that people can review.

    text        bytes → a tree of plain values, within limits
    section     one table of that tree, with its place in the file for messages
    attributes  [domain.<name>]    queries  [[workload]]    promises  [privacy], [data]
    study       the whole file as a value
    writing     a study as text    draft    a first study from a look at the data, for its curator only
    checking    a study beside the data, for its curator only    findings    what that found, in words

A study holds public knowledge only. Reading one never opens data.
"""

from .checking import CHECK_WARNING, Check, check
from .draft import DATA_WARNING, draft_study
from .findings import Finding
from .promises import DataPlace
from .study import Study
from .writing import write_study

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
