"""Predicates such as ``age >= 65 and sex = 'F'``: read by our own parser, never evaluated as code.

The way of a text: `parser` cuts it and builds the tree of `syntax`, `meaning` finds the cells where a tree holds and
splits it into conditions on separate attributes.

Grammar (keywords in any case)::

    condition   = conjunction { "or" conjunction }
    conjunction = negation { "and" negation }
    negation    = "not" negation | "(" condition ")" | test
    test        = name                                        a boolean attribute
                | subject comparison value                    = == != <> < <= > >= (also ≤ ≥ ≠)
                | subject ["not"] "between" value "and" value both ends included
                | subject ["not"] "in" "(" value { "," value } ")"
                | value comparison subject [ comparison value ]   so 18 <= age < 65 works
                | name "is" ["not"] ( "missing" | "null" )    no known value
                | ( name | "(" condition ")" ) "is" ["not"] ( "true" | "false" )
                | sum comparison sum                          attributes with each other: a <= b + 5
    subject     = name | part "(" name ")"                    part of a date: year, quarter, month, week, day, dow,
                                                              isodow, doy, hour, minute
    sum         = ( name | number ) { ( "+" | "-" ) ( name | number ) }
    name        = a word, or anything `between backticks` (a backtick inside is doubled), or "in double quotes" where
                  the domain has that name
    value       = a number, true, false, 'text' or "text" (the quote inside is doubled); a date is text: '2024-03-01'

As in SQL, a missing value makes a comparison neither true nor false: ``not age < 18`` leaves it out, too.
"""

from rowspace.workload.predicate.meaning import JointCondition, parsed, read, split
from rowspace.workload.predicate.parser import parse
from rowspace.workload.predicate.relations import cell_values as cell_values
from rowspace.workload.predicate.syntax import Condition
from rowspace.workload.predicate.syntax import name_text as name_text
from rowspace.workload.predicate.syntax import value_text as value_text

__all__ = [
    "Condition",
    "JointCondition",
    "parse",
    "parsed",
    "read",
    "split",
]
