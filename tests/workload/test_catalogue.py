"""Every family of queries keeps the laws of its kind; one that is not listed here fails."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable

import numpy as np
import pytest

from rowspace import workload as wl
from rowspace.domain import Categorical, Domain, Numeric
from rowspace.workload import Workload

SMALL = Domain(
    age=Numeric(0, 12, bins=4, integer=True),
    height=Numeric(0, 1, bins=4),
    sex=Categorical(["F", "M"]),
    state=Categorical(["CA", "NV"], outside="drop"),
)

FAMILIES: dict[str, list[Callable[[], Workload]]] = {
    "cube": [lambda: wl.cube(SMALL), lambda: wl.cube(SMALL, missing=True)],
    "identity": [lambda: wl.identity(SMALL), lambda: wl.identity(SMALL, missing=True)],
    "marginal": [lambda: wl.marginal(SMALL, "sex", "age"), lambda: wl.marginal(SMALL, "state", missing=True)],
    "marginals": [lambda: wl.marginals(SMALL, exactly=2), lambda: wl.marginals(SMALL, up_to=2, missing=True)],
    "matrix": [lambda: wl.matrix(np.eye(5, SMALL.size), SMALL)],
    "predicates": [
        lambda: wl.predicates(SMALL, ["age < 3 or sex = 'F'", "height is missing", "state = 'NV'"])
    ],
    "prefixes": [lambda: wl.prefixes(SMALL, "age"), lambda: wl.prefixes(SMALL, "height")],
    "product": [lambda: wl.product(SMALL, sex="identity", age="ranges", height="total")],
    "ranges": [lambda: wl.ranges(SMALL, "age"), lambda: wl.ranges(SMALL, "height")],
    "sql": [lambda: wl.sql(SMALL, "SELECT sex, COUNT(*) FROM t WHERE age < 6 GROUP BY sex")],
    "total": [lambda: wl.total(SMALL)],
    "widths": [lambda: wl.widths(SMALL, "age", 2)],
}
OF_MEASURES = {
    "sum",
    "mean",
    "valued",
    "variance",
    "standard_deviation",
}  # whose rows are no conditions: tests/test_measures.py
every_workload = pytest.mark.parametrize(
    ("family", "make"), [(family, make) for family, cases in FAMILIES.items() for make in cases]
)


def test_every_family_is_here():
    made = {name for name in wl.__all__ if not isinstance(getattr(wl, name), type)}
    assert made - OF_MEASURES == set(FAMILIES)


def holds(label: str, record: dict[str, object]) -> bool:
    """Whether a record is counted in a query, by the words of its label alone."""
    if label == "all records":
        return True
    for phrase in label.split(" and "):
        if span := re.fullmatch(r"(\w+) in \[(\S+), (\S+)\)", phrase):
            name, low, high = span.groups()
            met = record[name] is not None and float(low) <= record[name] < float(high)
        elif limit := re.fullmatch(r"(\w+) < (\d+)", phrase):
            name, high = limit.groups()
            met = record[name] is not None and record[name] < float(high)
        elif name := re.fullmatch(r"(\w+) is missing", phrase):
            met = record[name[1]] is None
        else:
            name, value = re.fullmatch(r"(\w+) = '?(\w+)'?", phrase).groups()
            met = record[name] == value
        if not met:
            return False
    return True


def records(domain: Domain) -> list[dict[str, object]]:
    """One record in every cell, in order."""

    def values(name):
        attribute = domain[name]
        known = attribute.edges[:-1] if isinstance(attribute, Numeric) else attribute.values
        return [*known, *([None] if name in domain.places else [])]

    return [
        dict(zip(domain.names, cell, strict=True)) for cell in itertools.product(*map(values, domain.names))
    ]


@every_workload
def test_each_query_is_what_its_label_says(family, make):
    workload = make()
    if family == "matrix":  # a row of numbers has a number and no words
        assert workload.labels(0, 2) == ["row 0", "row 1"]
        return
    workload = workload.over(SMALL.with_places())
    everyone = records(workload.domain)
    asked = [
        [any(holds(part, record) for part in label.split(" or ")) for record in everyone]
        for label in workload.labels()
    ]
    assert np.array_equal(workload.operator().to_dense(), asked)


@every_workload
def test_counts_are_of_records(family, make):
    """A query counts every cell once or not at all."""
    assert set(np.unique(make().operator().to_dense())) <= {0.0, 1.0}


@every_workload
def test_a_weight_changes_what_is_optimized_and_not_what_is_asked(family, make):
    workload = make()
    heavy = 3 * workload
    assert np.array_equal(heavy.operator().to_dense(), workload.operator().to_dense())
    assert np.array_equal(heavy.weighted_operator().to_dense(), 3 * workload.operator().to_dense())
    assert heavy.labels() == workload.labels()
    assert heavy.table() == workload.table()


@every_workload
def test_what_is_read_is_what_was_written(family, make):
    workload = make()
    tree, arrays = workload.to_dict()
    again = Workload.from_dict(json.loads(json.dumps(tree)), arrays)
    assert again == workload
    assert np.array_equal(again.weighted_operator().to_dense(), workload.weighted_operator().to_dense())


@every_workload
def test_the_rows_of_its_table_are_its_queries(family, make):
    workload = make()
    assert all(len(column) == workload.size for column in workload.table().values())
