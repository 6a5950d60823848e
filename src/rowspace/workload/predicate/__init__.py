"""Predicates such as ``age >= 65 and sex = 'F'``: read by our own parser, never evaluated as code.

The way of a text: `tokens` cuts it, `parser` builds the tree of `syntax`, `meaning` finds the cells where a
tree holds, and `products` splits it into conditions on separate attributes.

Grammar (keywords in any case)::

    condition   = conjunction { "or" conjunction }
    conjunction = negation { "and" negation }
    negation    = "not" negation | "(" condition ")" | test
    test        = name                                        a boolean attribute
                | name comparison value                       = == != <> < <= > >= (also ≤ ≥ ≠)
                | name ["not"] "between" value "and" value    both ends included
                | name ["not"] "in" "(" value { "," value } ")"
                | value comparison name [ comparison value ]  so 18 <= age < 65 works
    name        = a word, or anything `between backticks` (a backtick inside is doubled)
    value       = a number, true, false, 'text' or "text" (the quote inside is doubled)
"""

from rowspace.workload.predicate.parser import parse
from rowspace.workload.predicate.products import Component, read, split
from rowspace.workload.predicate.syntax import Condition

__all__ = ["Component", "Condition", "parse", "read", "split"]
