"""Families of attribute sets against brute force, also where rows of attribute numbers do not fit 64 bits."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rowspace.exceptions import TooLarge
from rowspace.tables import SubsetLattice, mask_of, members


def closed(sets):
    """All subsets of some sets, by size, then in lexicographic order."""
    found = {chosen for own in sets for k in range(len(own) + 1) for chosen in combinations(own, k)}
    return sorted(found | {()}, key=lambda own: (len(own), own))


@st.composite
def families(draw):
    """Sets over few attributes, or over so many that keys of rows pass 64 bits."""
    width = draw(st.sampled_from([3, 6, 200, 10**6, 10**12]))
    numbers = st.integers(0, width - 1)
    sets = draw(st.lists(st.sets(numbers, max_size=7 if width > 6 else 3), max_size=4))
    return [tuple(sorted(own)) for own in sets]


@given(families())
@settings(max_examples=150, deadline=None)
def test_sets_are_all_subsets_in_order(sets):
    rows = {}
    for own in set(sets):
        rows.setdefault(len(own), []).append(own)
    lattice = SubsetLattice.under_rows(
        {k: np.array(found, dtype=np.int64).reshape(len(found), k) for k, found in rows.items()}
    )
    assert list(lattice.sets) == closed(sets)
    assert lattice.size == len(lattice.sets)
    for k, found in enumerate(lattice.orders):
        start = lattice.offsets[k]
        assert lattice.find(found).tolist() == list(range(start, start + len(found)))
        assert lattice.find(found[::-1]).tolist() == list(range(start, start + len(found)))[::-1]
        for row, below in zip(found.tolist(), lattice.below[k].tolist(), strict=True):
            for j, number in enumerate(below):
                assert lattice.orders[k - 1][number].tolist() == row[:j] + row[j + 1 :]


@given(families(), st.integers(0, 2**32))
@settings(max_examples=80, deadline=None)
def test_sums_against_loops(sets, seed):
    masks = [mask_of(position for position, _ in enumerate(own)) << (i * 2) for i, own in enumerate(sets)]
    lattice = SubsetLattice.under(masks)
    values = np.random.default_rng(seed).integers(-9, 9, lattice.size).astype(float)
    pairs = list(zip(lattice.masks, values, strict=True))
    np.testing.assert_array_equal(
        lattice.sums_above(values), [sum(v for S, v in pairs if R & ~S == 0) for R in lattice.masks]
    )
    np.testing.assert_array_equal(
        lattice.sums_below(values), [sum(v for R, v in pairs if R & ~S == 0) for S in lattice.masks]
    )
    factors = np.arange(2.0, 2 + max((m.bit_length() for m in masks), default=0))
    np.testing.assert_allclose(
        lattice.products(factors), [np.prod([factors[i] for i in members(m)]) for m in lattice.masks]
    )
    assert all(lattice.index[mask] == number for number, mask in enumerate(lattice.masks))


def test_many_triples_of_two_hundred_attributes():
    lattice = SubsetLattice.under_rows({3: np.array(list(combinations(range(200), 3)))})
    assert lattice.offsets == [0, 1, 201, 201 + 19_900, 201 + 19_900 + 1_313_400]
    ones = np.ones(lattice.size)
    assert lattice.sums_below(ones)[-1] == 8
    assert lattice.sums_above(ones)[0] == lattice.size


def test_no_rows_are_nowhere():
    lattice = SubsetLattice.under([0])
    assert lattice.find(np.empty((0, 2), dtype=np.int64)).tolist() == []


def test_families_that_are_too_large_are_refused(monkeypatch):
    with pytest.raises(TooLarge, match="smaller"):
        SubsetLattice.under([2**23 - 1])
    with pytest.raises(TooLarge, match="many attributes"):
        SubsetLattice.under([(2**22 - 1) << shift for shift in range(0, 400, 22)])
    monkeypatch.setattr("rowspace.tables.lattice.LARGEST_LATTICE", 2**10)
    with pytest.raises(TooLarge, match="fewer or smaller"):
        SubsetLattice.under([2**9 - 1, (2**9 - 1) << 8, (2**9 - 1) << 16])
