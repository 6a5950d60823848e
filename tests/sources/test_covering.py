"""Which tables are counted: enough of them, none below another, and cheaper than the obvious choice."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from rowspace.sources.marginal_tables import (
    MAX_JOINED_CELLS,
    AttributeSet,
    Supersets,
    cost,
    count_of_cells,
    tables_to_count,
)

shapes = st.lists(st.sampled_from([1, 2, 3, 10, 1000]), min_size=1, max_size=6)


@st.composite
def sets_and_shape(draw: st.DrawFn) -> tuple[list[AttributeSet], list[int]]:
    shape = draw(shapes)
    attributes = st.sets(st.integers(0, len(shape) - 1), max_size=3).map(lambda chosen: tuple(sorted(chosen)))
    return draw(st.lists(attributes, unique=True, min_size=1, max_size=20)), shape


@given(sets_and_shape())
def test_every_wanted_table_is_below_a_counted_one(wanted: tuple[list[AttributeSet], list[int]]) -> None:
    sets, shape = wanted
    counted = tables_to_count(sets, shape)
    assert all(any(set(s) <= set(t) for t in counted) for s in sets)
    assert all(t == tuple(sorted(set(t))) for t in counted)
    assert not any(set(s) < set(t) for s in counted for t in counted)
    maximal = [s for s in sets if not any(set(s) < set(t) for t in sets)]
    assert cost(counted, shape) <= cost(maximal, shape)
    assert len(counted) <= len(maximal)
    assert count_of_cells(counted, shape) <= max(count_of_cells(maximal, shape), MAX_JOINED_CELLS)


@given(sets_and_shape())
def test_the_smallest_table_above(wanted: tuple[list[AttributeSet], list[int]]) -> None:
    sets, shape = wanted
    supersets = Supersets(sets, shape)
    for attributes in sets:
        above = [s for s in sets if set(s) > set(attributes)]
        found = supersets.above(attributes)
        if not above:
            assert found is None
        else:
            assert found in above
            assert count_of_cells([found], shape) == min(count_of_cells([s], shape) for s in above)
            # What _sum_out relies on.
            assert supersets.ascending.index(found) > supersets.ascending.index(attributes)


def test_a_small_domain_is_counted_as_a_whole() -> None:
    pairs = list(combinations(range(5), 2))
    assert tables_to_count(pairs, (10,) * 5) == [(0, 1, 2, 3, 4)]


def test_cells_are_weighed_against_passes() -> None:
    """All pairs of 5 attributes: one table of 10⁵ cells, one of 10⁷ that never pays, or something between."""
    pairs = list(combinations(range(5), 2))
    assert len(tables_to_count(pairs, (16,) * 5)) == 3
    assert tables_to_count(pairs, (100,) * 5) == pairs


def test_small_attributes_are_counted_in_groups() -> None:
    pairs = list(combinations(range(200), 2))
    assert len(tables_to_count(pairs, (2,) * 200)) < len(pairs) / 30


def test_many_pairs_of_middling_attributes() -> None:
    pairs = list(combinations(range(60), 2))
    counted = tables_to_count(pairs, (10,) * 60)
    assert len(counted) == 30 * 29 // 2
    assert {len(attributes) for attributes in counted} == {4}


def test_memory_is_bounded() -> None:
    pairs = list(combinations(range(250), 2))
    assert len(tables_to_count(pairs, (10,) * 250)) == len(pairs)


def test_large_tables_are_counted_as_they_are() -> None:
    sets = [(0, 1), (1, 2), (0,), ()]
    assert tables_to_count(sets, (1000, 1000, 1000)) == [(0, 1), (1, 2)]


def test_no_attributes_and_no_sets() -> None:
    assert tables_to_count([()], (2, 2)) == [()]
    assert tables_to_count([], (2, 2)) == []
