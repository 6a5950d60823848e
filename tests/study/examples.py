"""Studies to test with: `SMALL` is right, and each of `BAD` is it with one thing wrong."""

from __future__ import annotations

SMALL = """
[study]
name = "Residents"

[privacy]
epsilon = 1.0

[domain.age]
type = "numeric"
low = 0
high = 20
bins = 20

[domain.sex]
type = "categorical"
categories = ["F", "M"]

[[workload]]
ranges = "age"

[[workload]]
marginal = ["sex"]
weight = 2.0
"""


def changed(old: str, new: str) -> str:
    """The small study with one piece replaced."""
    assert SMALL.count(old) == 1, f"{old!r} must be there once"
    return SMALL.replace(old, new)


# name: (text, the place and the words its message must hold)
BAD: dict[str, tuple[str, tuple[str, ...]]] = {
    "empty": ("", ("[study] is missing",)),
    "no TOML": (changed("low = 0", "low = "), ("no TOML", "line")),
    "epsilon zero": (changed("epsilon = 1.0", "epsilon = 0"), ("[privacy]", "epsilon")),
    "epsilon negative": (changed("epsilon = 1.0", "epsilon = -1.0"), ("[privacy]", "epsilon")),
    "epsilon not a number": (changed("epsilon = 1.0", "epsilon = nan"), ("[privacy]", "epsilon")),
    "epsilon infinite": (changed("epsilon = 1.0", "epsilon = inf"), ("[privacy]", "epsilon")),
    "epsilon text": (changed("epsilon = 1.0", 'epsilon = "1"'), ("[privacy]", "epsilon")),
    "epsilon a date": (changed("epsilon = 1.0", "epsilon = 2020-01-01"), ("[privacy]", "epsilon")),
    "delta zero": (changed("epsilon = 1.0", "epsilon = 1.0\ndelta = 0"), ("[privacy]", "delta")),
    "delta one": (changed("epsilon = 1.0", "epsilon = 1.0\ndelta = 1.0"), ("[privacy]", "delta")),
    "delta alone": (changed("epsilon = 1.0", "delta = 1e-6"), ("[privacy]", "got delta")),
    "epsilon and rho": (changed("epsilon = 1.0", "epsilon = 1.0\nrho = 1"), ("[privacy]", "epsilon and rho")),
    "rho negative": (changed("epsilon = 1.0", "rho = -1"), ("[privacy]", "rho")),
    "no privacy": (changed("epsilon = 1.0", ""), ("[privacy]", "none of them")),
    "unknown neighbours": (
        changed("epsilon = 1.0", 'epsilon = 1.0\nneighbours = "next"'),
        ("[privacy]", "neighbours"),
    ),
    "misspelt epsilon": (changed("epsilon = 1.0", "epsilom = 1.0"), ("[privacy]", "did you mean 'epsilon'")),
    "misspelt section": (changed("[privacy]", "[privaty]"), ("did you mean 'privacy'",)),
    "misspelt key": (changed("high = 20", "hihg = 20"), ("[domain.age]", "did you mean 'high'")),
    "misspelt type": (changed('"numeric"', '"numerical"'), ("[domain.age]", "did you mean 'numeric'")),
    "no type": (changed('type = "numeric"', ""), ("[domain.age]", "type is missing")),
    "duplicate attribute": (SMALL + '[domain.sex]\ntype = "categorical"\n', ("no TOML", "sex")),
    "attribute without table": (
        changed("[domain.age]", "domain.age2 = 3\n[domain.age]"),
        ("[privacy]", "unknown key"),
    ),
    "empty domain": ('[study]\nname = "x"\n[privacy]\nepsilon = 1\n[domain]\n', ("domain is empty",)),
    "no domain": ('[study]\nname = "x"\n[privacy]\nepsilon = 1\n', ("[domain] is missing",)),
    "domain is a list": (
        'domain = []\n[study]\nname = "x"\n[privacy]\nepsilon = 1\n',
        ("[domain]", "a table"),
    ),
    "bins do not increase": (
        changed("low = 0\nhigh = 20\nbins = 20", "edges = [0, 10, 10, 20]"),
        ("[domain.age]", "edges must increase"),
    ),
    "low above high": (changed("high = 20", "high = -1"), ("[domain.age]", "low must be below high")),
    "low and edges": (changed("bins = 20", "edges = [0, 1]"), ("[domain.age]", "or else edges")),
    "bins missing": (changed("bins = 20", ""), ("[domain.age]", "got low and high")),
    "bins fractional": (changed("bins = 20", "bins = 2.5"), ("[domain.age]", "bins")),
    "bins too many": (changed("bins = 20", "bins = 9_000_000_000"), ("[domain.age]", "bins")),
    "integer beyond 64 bits": (changed("bins = 20", f"bins = 0x{'F' * 5000}"), ("64 bits",)),
    "integer of many digits": (changed("bins = 20", f"bins = {'9' * 5000}"), ("cannot be",)),
    "categories empty": (changed('["F", "M"]', "[]"), ("[domain.sex]", "empty")),
    "categories twice": (changed('["F", "M"]', '["F", "F"]'), ("[domain.sex]", "twice")),
    "categories missing": (
        changed('categories = ["F", "M"]', ""),
        ("[domain.sex]", 'categories is missing; write for example categories = ["F", "M"]'),
    ),
    "categories floats": (changed('["F", "M"]', "[1.5]"), ("[domain.sex]", "Numeric")),
    "other is a category": (changed('["F", "M"]', '["F", "M"]\nother = "F"'), ("[domain.sex]", "other")),
    "level incomplete": (
        changed('["F", "M"]', '["F", "M"]\nlevels = { any = { all = ["F"] } }'),
        ("[domain.sex]", "missing: 'M'"),
    ),
    "level twice": (
        changed('["F", "M"]', '["F", "M"]\nlevels = { any = { a = ["F", "M"], b = ["M"] } }'),
        ("[domain.sex]", "level 'any'", "'M' is in two lists"),
    ),
    "level mixed": (
        changed('["F", "M"]', '["F", "M"]\nlevels = { any = { a = ["F"], M = "b" } }'),
        ("[domain.sex]", "level 'any'", "or all as"),
    ),
    "level of dates": (
        changed('["F", "M"]', '["F", "M"]\nlevels = { any = { F = 2020-01-01, M = 2020-01-01 } }'),
        ("[domain.sex]", "labels are text, integers or booleans, got 2020-01-01"),
    ),
    "no workload": (SMALL.split("[[workload]]")[0], ("at least one query",)),
    "single brackets": (SMALL.split("[[workload]]")[0] + '[workload]\nranges = "age"', ("double brackets",)),
    "two families": (
        changed('ranges = "age"', 'ranges = "age"\ntotal = true'),
        ("entry 1", "ranges and total"),
    ),
    "no family": (changed('ranges = "age"', ""), ("entry 1", "none of them")),
    "misspelt family": (changed('ranges = "age"', 'rangse = "age"'), ("entry 1", "did you mean 'ranges'")),
    "unknown attribute": (changed('ranges = "age"', 'ranges = "agee"'), ("entry 1", "did you mean 'age'")),
    "marginal of a stranger": (changed('["sex"]', '["sexx"]'), ("entry 2", "marginal", "did you mean 'sex'")),
    "marginal twice": (changed('["sex"]', '["sex", "sex"]'), ("entry 2", "twice")),
    "marginal is text": (changed('["sex"]', '"sex"'), ("entry 2", "marginal", "expected")),
    "marginals of too many": (changed('ranges = "age"', "marginals = { up_to = 5 }"), ("entry 1", "0 to 2")),
    "marginals of nothing": (
        changed('ranges = "age"', "marginals = {}"),
        ("up_to = 2, or else exactly = 2", "none of them"),
    ),
    "marginals misspelt": (changed('ranges = "age"', "marginals = { upto = 1 }"), ("did you mean 'up_to'",)),
    "marginals of texts": (
        changed('ranges = "age"', 'marginals = { sets = ["age"] }'),
        ("entry 1: marginals: expected a list, as in sets = [[", 'got "age"'),
    ),
    "total false": (changed('ranges = "age"', "total = false"), ("entry 1", "total = true")),
    "total one": (changed('ranges = "age"', "total = 1"), ("entry 1", "expected total = true, got 1")),
    "widths alone": (changed('ranges = "age"', 'widths = "age"'), ("entry 1", "width = 5")),
    "width alone": (changed('ranges = "age"', 'ranges = "age"\nwidth = 3'), ("entry 1", "width = 5")),
    "width too large": (changed('ranges = "age"', 'widths = "age"\nwidth = 99'), ("entry 1", "widths")),
    "predicate does not parse": (
        changed('ranges = "age"', 'predicates = ["age >="]'),
        ("entry 1", "predicates"),
    ),
    "predicate of a stranger": (
        changed('ranges = "age"', 'predicates = ["agee > 3"]'),
        ("entry 1", "did you mean 'age'"),
    ),
    "predicates empty": (changed('ranges = "age"', "predicates = []"), ("entry 1", "at least one")),
    "product of nonsense": (changed('ranges = "age"', 'product = { age = "all" }'), ("entry 1", "identity")),
    "product of numbers": (changed('ranges = "age"', "product = { age = 3 }"), ("entry 1", "product")),
    "weight zero": (changed("weight = 2.0", "weight = 0"), ("entry 2", "weight")),
    "weight text": (changed("weight = 2.0", 'weight = "2"'), ("entry 2", "weight")),
    "no name": (changed('name = "Residents"', ""), ("[study]", "name is missing")),
    "name is a number": (changed('name = "Residents"', "name = 3"), ("[study]", "name")),
    "password": (
        SMALL + '[data]\nurl = "postgresql://me:secret@host/db"\n',
        ("[data]", "password", "url_env"),
    ),
    "token": (SMALL + '[data]\nurl = "databricks://host?access_token=secret"\n', ("[data]", "token")),
    "unknown encoding": (SMALL + '[data]\nencoding = "utf-9"\n', ("[data]", "unknown encoding 'utf-9'")),
    "long delimiter": (SMALL + '[data]\ndelimiter = ", "\n', ("[data]", "one character")),
    "names as text": (
        SMALL + '[data]\nnames = "age,sex"\n',
        ("[data]", 'expected a list, as in names = ["age", "sex"]; got text'),
    ),
    "nulls of numbers": (
        SMALL + "[data]\nnulls = [-9]\n",
        ("[data]", 'expected text, as in nulls = ["NA", "?"]; got -9'),
    ),
    "strip as text": (
        SMALL + '[data]\nstrip = "yes"\n',
        ("[data]", "expected strip = true or strip = false, got text"),
    ),
    "misspelt option": (SMALL + "[data]\nstripp = true\n", ("[data]", "did you mean 'strip'")),
    "no address": (SMALL + '[data]\nurl = "http://[bad"\n', ("[data]", "no address")),
    "url twice": (
        SMALL + '[data]\nurl = "duckdb://x"\nurl_env = "X"\n',
        ("or else url_env =", "url and url_env"),
    ),
    "deep": (SMALL.replace("[study]", "[study]\ndescription = " + "[" * 50 + "]" * 50), ("deeper",)),
    "very deep": ("x = " + "[" * 100_000, ("deeper",)),
    "dotted": (".".join("a" * 100_000) + " = 1", ("dots",)),
    "too long": ("#" * (2**22 + 1), ("bytes",)),
}
