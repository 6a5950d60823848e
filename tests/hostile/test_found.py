"""What fuzzing and reading found, each with the input that showed it."""

from __future__ import annotations

import numpy as np
import pytest

from rowspace import operators as op
from rowspace.domain import Categorical, Domain, Numeric
from rowspace.error import half_widths
from rowspace.error.moments import Moments
from rowspace.exceptions import FileError, InvalidDomain, InvalidInput, InvalidWorkload, TooLarge
from rowspace.privacy import PureDP
from rowspace.workload import Workload, predicates


@pytest.mark.parametrize("indptr", [[0, 2**40, 0], [0, 2**62, 0], [0, -5, 0], [1, 0], [0, 1], [], [[0], [0]]])
def test_sparse_rows_that_do_not_follow(indptr: list[int]) -> None:
    """Row boundaries that end at 0 are not checked by scipy, which then read outside its memory and crashed."""
    tree = {
        "operator": "Sparse",
        "data": {"array": "data"},
        "indices": {"array": "indices"},
        "indptr": {"array": "indptr"},
        "columns": 3,
    }
    arrays = {
        "data": np.zeros(0),
        "indices": np.zeros(0, np.int64),
        "indptr": np.array(indptr, np.int64),
    }
    with pytest.raises(FileError):
        op.decode(tree, arrays)


def test_half_characters_are_refused() -> None:
    """JSON lets a lone surrogate through; no engine and no file takes it, so tables failed when they were built."""
    for build in (lambda: Categorical(["a", "\ud800"]), lambda: Categorical(["a"], other="\udfff")):
        with pytest.raises(InvalidDomain):
            build()
    tree, arrays = predicates(Domain(x=Categorical(["a", "b"])), ["x = 'a'"]).to_dict()
    tree["parts"][0]["name"] = "\ud800"
    with pytest.raises(InvalidWorkload):
        Workload.from_dict(tree, arrays)


def test_a_condition_that_holds_nearly_everywhere() -> None:
    """It took half a gigabyte for the list of its cells before it was refused."""
    with pytest.raises(TooLarge, match="holds on more than"):
        predicates(Domain(x=Numeric(0, 2**26, bins=2**26)), ["x >= 1"])


def test_many_tests_on_many_bins() -> None:
    """A short text could ask for hours: each of a thousand tests looks at 2²⁶ bins."""
    domain = Domain(x=Numeric(0, 2**26, bins=2**26))
    with pytest.raises(TooLarge, match="test by test"):
        predicates(domain, [" or ".join(["x < 5"] * 1000)])


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning", "ignore:invalid value:RuntimeWarning")
def test_coefficients_beyond_floating_point() -> None:
    """A saved matrix with 1e300 in it gave infinite moments, and then a ValueError of scipy in place of error bars."""
    parts = Moments(*(np.array([value]) for value in (np.inf, np.nan, 1e300, 0.0)))
    with pytest.raises(InvalidInput, match="scale their matrix down"):
        half_widths(parts, PureDP(1.0).noise(1), 0.95)
