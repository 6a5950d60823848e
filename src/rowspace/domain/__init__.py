"""What is counted: the declared attributes, their cells, and the names people use for them.

A domain is public knowledge. It is declared, never read from the data: bounds, categories and taxonomies come
from a code book, and records that do not fit follow the declared policy (`outside=`, `other=`), silently.

Cells are numbered in C order over the attributes in the order of declaration, the last attribute fastest.
"""

from rowspace.domain.calendar import (
    DATE_PARTS,
    DAY,
    Period,
    clock_changes,
    period_around,
    read_period,
    write_time,
)
from rowspace.domain.categorical import Categorical, Label, Level, readable
from rowspace.domain.dates import Dates, DayOfWeek, HourOfDay, Timed
from rowspace.domain.measure import Measure
from rowspace.domain.numeric import MAX_BINS, Numeric
from rowspace.domain.periods import first_periods, one_after_another, until_period, with_periods
from rowspace.domain.schema import MISSING, Attribute, Dimension, Domain
from rowspace.domain.suggestions import did_you_mean, first_few

__all__ = [
    "DATE_PARTS",
    "DAY",
    "MAX_BINS",
    "MISSING",
    "Attribute",
    "Categorical",
    "Dates",
    "DayOfWeek",
    "Dimension",
    "Domain",
    "HourOfDay",
    "Label",
    "Level",
    "Measure",
    "Numeric",
    "Period",
    "Timed",
    "clock_changes",
    "did_you_mean",
    "first_few",
    "first_periods",
    "one_after_another",
    "period_around",
    "read_period",
    "readable",
    "until_period",
    "with_periods",
    "write_time",
]
