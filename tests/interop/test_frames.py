"""The same answers, whatever holds them."""

from __future__ import annotations

import numpy as np
import pytest

import rowspace as rs
from rowspace.exceptions import InvalidInput
from rowspace.interop import to_arrow, to_numpy, to_polars

DOMAIN = rs.Domain(age=rs.Numeric(0, 4, bins=4), sex=rs.Categorical(["F", "M"]))


@pytest.fixture(scope="module")
def release() -> rs.Release:
    queries = rs.workload.ranges(DOMAIN, "age") + rs.workload.marginal(DOMAIN, "sex")
    return rs.release(rs.plan(queries, rs.PureDP(1.0), effort="fast"), [5] * 8)


def test_all_answers(release: rs.Release) -> None:
    answers = release.answers(0.9)
    assert to_polars(release, level=0.9).to_dict(as_series=False) == answers.to_dict(orient="list")
    assert to_arrow(release, level=0.9).to_pydict() == answers.to_dict(orient="list")
    for name, column in to_numpy(release, level=0.9).items():
        assert np.array_equal(column, answers[name])


def test_other_queries(release: rs.Release) -> None:
    queries = rs.workload.marginal(DOMAIN, "age")
    assert to_polars(release, queries).shape == (4, 6)
    assert to_numpy(release, queries)["answer"].tolist() == release.ask(queries)["answer"].tolist()


def test_arrow_carries_the_statement(release: rs.Release) -> None:
    assert to_arrow(release).schema.metadata[b"rowspace"].decode() == release.statement


def test_something_else_is_refused() -> None:
    with pytest.raises(InvalidInput, match="expected a release"):
        to_numpy("people.release")  # type: ignore[arg-type]
