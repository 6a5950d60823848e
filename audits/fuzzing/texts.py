"""Texts that people write: studies and predicates."""

from __future__ import annotations

import numpy as np

from rowspace import sample
from rowspace.domain import Categorical, Domain, Numeric
from rowspace.study import Study
from rowspace.workload import predicates

from .attack import Parser
from .mutation import NUMBERS, pick, spoil_text

SMALL_STUDY = """
[study]
name = "Residents"
description = '''two
lines'''
[privacy]
epsilon = 1.0
delta = 1e-9
neighbours = "replace-one"
[domain.age]
type = "numeric"
low = 0
high = 20
bins = 20
outside = "clip"
[domain."net income"]
type = "numeric"
edges = [0, 10.5, 1e3, 2_000]
[domain.county]
type = "categorical"
categories = ["Kern", "Clark", 'Washoe']
other = "elsewhere"
levels = { state = { CA = ["Kern"], NV = ["Clark", "Washoe"], XX = ["elsewhere"] } }
[[workload]]
ranges = "age"
weight = 2.5
[[workload]]
marginals = { up_to = 2 }
[[workload]]
product = { age = "prefixes", county = "identity" }
[[workload]]
widths = "age"
width = 5
[[workload]]
predicates = ["age >= 5 and county = 'Kern'", "`net income` < 10.5 or not state in ('CA', 'XX')"]
[[workload]]
total = true
[data]
url = "postgresql://host/database"
table = "people"
"""

STUDY_WORDS = (
    *(
        "[",
        "]",
        "[[",
        "]]",
        "{",
        "}",
        "=",
        ",",
        ".",
        "#",
        '"',
        "'",
        '"""',
        "'''",
        "\\",
        "\\u0000",
        "\n",
        "\r\n",
    ),
    *("[study]", "[privacy]", "[domain.x]", "[[workload]]", "[data]", "[domain.age.levels]", "a.b.c.d = 1"),
    *(
        "epsilon = 1e-320",
        "rho = 5",
        "delta = 0.5",
        'type = "numeric"',
        'type = "categorical"',
        "bins = 67108864",
    ),
    *(
        "categories = [1, 2]",
        "categories = [true]",
        "total = true",
        "cube = true",
        "identity = true",
        "[" * 30,
    ),
    *(
        'marginal = ["age"]',
        "marginals = { up_to = 99 }",
        "inf",
        "-nan",
        "1979-05-27T07:32:00Z",
        "0x7fffffffffff",
    ),
)

DOMAIN = Domain(
    {
        "age": Numeric(0, 100, bins=100),
        "height": Numeric(0.0, 2.5, bins=25),
        "sex": Categorical(["F", "M"]),
        "smoker": Categorical([False, True]),
        "zone": Categorical(
            [1, 2, 3], other="other", levels={"half": {1: "a", 2: "a", 3: "b", "other": "b"}}
        ),
        "odd `name`": Categorical(["it's", 'say "x"', "", "é"]),
    }
)

PREDICATE_WORDS = (
    *("age", "height", "sex", "smoker", "zone", "half", "`odd ``name```", "nobody", "true", "FALSE", "null"),
    *(
        "and",
        "OR",
        "not",
        "in",
        "between",
        "=",
        "==",
        "!=",
        "<>",
        "<",
        "<=",
        ">",
        ">=",
        "≤",
        "≠",
        "(",
        ")",
        ",",
    ),
    *(
        "'F'",
        '"M"',
        "'it''s'",
        "''",
        "18",
        "65",
        "-1",
        "+3.5",
        ".5",
        "1e3",
        "1e999",
        "0x10",
        "9" * 41,
        "é",
        "\x00",
    ),
    *(
        "'",
        '"',
        "`",
        ";",
        "--",
        "DROP TABLE people",
        "__import__('os')",
        "{0}",
        "%s",
        "\n",
        "\u202e",
        "&",
        "|",
    ),
)


def studies() -> Parser:
    """Study files: spoilt ones, spliced ones, and lines of a grammar."""
    seeds = (SMALL_STUDY, sample.people_path().with_suffix(".toml").read_text(encoding="utf-8"))

    def draw(rng: np.random.Generator) -> str:
        if rng.random() < 0.25:
            return SMALL_STUDY[: SMALL_STUDY.index("[domain.age]")] + _settings(rng)
        return spoil_text(rng, pick(rng, seeds), STUDY_WORDS)

    return Parser("study files", draw, Study.parse)


def conditions() -> Parser:
    """Predicates: from a grammar, from loose words, and spoilt."""

    def draw(rng: np.random.Generator) -> str:
        kind = rng.random()
        if kind < 0.3:
            return " ".join(str(pick(rng, PREDICATE_WORDS)) for _ in range(int(rng.integers(1, 12))))
        text = _condition(rng, int(rng.integers(1, 6)))
        return text if kind < 0.5 else spoil_text(rng, text, PREDICATE_WORDS)

    return Parser("predicates", draw, lambda text: predicates(DOMAIN, [text]).labels())


def _settings(rng: np.random.Generator) -> str:
    """Tables of a study with settings of any value."""
    keys = ("type", "low", "high", "bins", "edges", "categories", "other", "levels", "outside", "integer")
    queries = (
        "ranges",
        "prefixes",
        "widths",
        "width",
        "marginal",
        "marginals",
        "product",
        "predicates",
        "weight",
    )
    lines = []
    for name in ("x", "y")[: int(rng.integers(1, 3))]:
        lines += [f"[domain.{name}]", f'type = "{pick(rng, ("numeric", "categorical"))}"']
        lines += [f"{key} = {_value(rng, 3)}" for key in rng.choice(keys, 3, replace=False)]
    for _ in range(int(rng.integers(1, 4))):
        lines += ["[[workload]]", *(f"{key} = {_value(rng, 3)}" for key in rng.choice(queries, 1))]
    return "\n".join(lines)


def _value(rng: np.random.Generator, depth: int) -> str:
    """A TOML value."""
    match int(rng.integers(6 if depth else 4)):
        case 0:
            return str(pick(rng, NUMBERS[:-4]))
        case 1:
            return pick(
                rng, ('"x"', "'y'", '"clip"', '"F"', '""', '"x > 1"', '"ranges"', '"""a"""', "true", "false")
            )
        case 2:
            return pick(rng, ("0", "1", "10", "2.5", '["x"]', '["x", "y"]', "[0, 1, 2]", '["a", "b"]'))
        case 3:
            return pick(rng, ("inf", "nan", "1979-05-27", "07:32:00", "0o17", "1_000"))
        case 4:
            return "[" + ", ".join(_value(rng, depth - 1) for _ in range(int(rng.integers(4)))) + "]"
    return "{ " + ", ".join(f"k{i} = {_value(rng, depth - 1)}" for i in range(int(rng.integers(3)))) + " }"


def _condition(rng: np.random.Generator, depth: int) -> str:
    """A condition that parses."""
    match int(rng.integers(4)) if depth else 0:
        case 1:
            return f"({_condition(rng, depth - 1)})"
        case 2:
            return f"not {_condition(rng, depth - 1)}"
        case 3:
            word = pick(rng, ("and", "or"))
            return f"{_condition(rng, depth - 1)} {word} {_condition(rng, depth - 1)}"
    name, values = pick(
        rng,
        (
            ("age", ("0", "18", "65", "100", "7.5", "-3")),
            ("height", ("0.1", "1.5", "2.5", "1e-9")),
            ("sex", ("'F'", "'M'", "'X'")),
            ("zone", ("1", "3", "'other'", "9")),
            ("half", ("'a'", "'b'")),
            ("`odd ``name```", ("'it''s'", "''")),
        ),
    )
    one, other = pick(rng, values), pick(rng, values)
    tests = (f"{name} {pick(rng, ('=', '!=', '<', '<=', '>', '>='))} {one}", f"{name} in ({one}, {other})")
    return str(
        pick(rng, (*tests, f"{name} between {one} and {other}", f"{one} <= {name} < {other}", "smoker"))
    )
