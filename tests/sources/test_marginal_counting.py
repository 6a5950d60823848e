"""Marginal tables of every kind of source, against the oracle and the counts of the cells."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import ibis
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rowspace.domain import Categorical, Domain, Numeric
from rowspace.exceptions import InvalidInput, RowspaceError, SourceError, TooLarge
from rowspace.privacy import PrivacyUnit
from rowspace.sources import count_cells, count_marginals, tallies
from rowspace.sources.marginal_tables import AttributeSet, MarginalTables
from tests.sources import oracle
from tests.sources.kinds import KINDS
from tests.sources.test_counting import DOMAINS, ROWS
from tests.sources.test_secrecy import (
    DOMAIN,
    MARK,
    damaged_parquet,
    everything_said_by,
    failing_ibis_query,
    failing_view,
    text_in_csv,
    text_in_pandas,
)

PRODUCT = DOMAINS["product"]


def all_sets(attributes: int, largest: int) -> list[AttributeSet]:
    return [chosen for k in range(largest + 1) for chosen in combinations(range(attributes), k)]


def marginal(counts: np.ndarray, attributes: AttributeSet) -> np.ndarray:
    return counts.sum(axis=tuple(axis for axis in range(counts.ndim) if axis not in attributes))


def assert_marginals(tables: MarginalTables, counts: np.ndarray, sets: list[AttributeSet]) -> None:
    assert sorted(tables.sets) == sorted(sets)
    for attributes in sets:
        table = tables.table(attributes)
        assert isinstance(table, np.ndarray)
        assert table.dtype == np.int64
        np.testing.assert_array_equal(table, marginal(counts, attributes), strict=True)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_source_agrees_with_the_oracle(kind: str, tmp_path: Path) -> None:
    data, table = KINDS[kind](ROWS, tmp_path)
    for sets in (all_sets(4, 4), [(0, 2), (3,)], [()]):
        tables = count_marginals(data, PRODUCT, sets, table=table)
        assert_marginals(tables, oracle.counts(ROWS, PRODUCT), sets)


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("kind", ["arrow", "sqlite url"])
def test_tables_are_marginals_of_the_cells(kind: str, domain: str, tmp_path: Path) -> None:
    data, table = KINDS[kind](ROWS, tmp_path)
    sets = all_sets(len(DOMAINS[domain]), 2)
    cells = count_cells(data, DOMAINS[domain], table=table)
    assert_marginals(count_marginals(data, DOMAINS[domain], sets, table=table), cells, sets)


@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_any_sets_of_any_domain(data: st.DataObject) -> None:
    shape = [*data.draw(st.lists(st.sampled_from([1, 2, 3, 7]), max_size=4)), 300]
    every = all_sets(len(shape), len(shape))
    sets = data.draw(st.lists(st.sampled_from(every), unique=True, max_size=8))
    codes = np.random.default_rng(data.draw(st.integers(0, 99))).integers(-1, shape, size=(50, len(shape)))
    domain = Domain({f"a{i}": Numeric(0, size, bins=size) for i, size in enumerate(shape)})
    rows = pa.table({f"a{i}": codes[:, i] for i in range(len(shape))})
    inside = codes[(codes >= 0).all(axis=1)]
    tables = count_marginals(rows, domain, sets)
    assert sorted(tables.sets) == sorted(sets)
    for attributes in sets:
        truth = np.zeros([shape[i] for i in attributes], dtype=np.int64)
        for record in inside:
            truth[tuple(record[list(attributes)])] += 1
        np.testing.assert_array_equal(tables.table(attributes), truth, strict=True)


def test_one_row_changes_one_cell_of_every_table() -> None:
    sets = all_sets(4, 3)
    everything = count_marginals(pa.table(dict(ROWS)), PRODUCT, sets)
    for left_out in range(14):
        rest = {name: [*column[:left_out], *column[left_out + 1 :]] for name, column in ROWS.items()}
        fewer = count_marginals(pa.table(rest), PRODUCT, sets)
        changes = [everything.table(s) - fewer.table(s) for s in sets]
        assert min(change.min() for change in changes) == 0
        assert {int(change.sum()) for change in changes} in ({0}, {1})


@pytest.mark.parametrize("kind", ["arrow", "sqlite url"])
def test_one_unit_changes_at_most_its_rows_in_every_table(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    domain = Domain(x=Numeric(0, 5, bins=5), y=Categorical([0, 1]))
    records = [(i // 10, i % 7, i % 2) for i in range(50)]
    sets, unit = all_sets(2, 2), PrivacyUnit("who", rows=3)

    def tables_of(chosen: list[tuple[int, int, int]], folder: Path) -> MarginalTables:
        folder.mkdir()
        rows = dict(zip(("who", "x", "y"), map(list, zip(*chosen, strict=True)), strict=True))
        data, table = KINDS[kind](rows, folder)
        return count_marginals(data, domain, sets, table=table, unit=unit)

    # The guarantee is about every fixed key; with fresh ones the other units change too.
    monkeypatch.setattr("secrets.token_hex", lambda size: "0" * 2 * size)
    everything = tables_of(records, tmp_path / "all")
    assert everything.table(()) == 15
    assert_marginals(everything, everything.table((0, 1)), sets)
    for left_out in range(5):
        fewer = tables_of([record for record in records if record[0] != left_out], tmp_path / str(left_out))
        for attributes in sets:
            change = everything.table(attributes) - fewer.table(attributes)
            assert change.min() >= 0
            assert change.sum() == 3


def test_counts_made_elsewhere_have_no_units() -> None:
    with pytest.raises(InvalidInput, match="array of counts"):
        count_marginals([1, 2], Domain(x=Categorical([0, 1])), [(0,)], unit=PrivacyUnit("who", rows=3))


def test_attributes_without_a_table_decide_too() -> None:
    rows = pa.table({"x": [0, 1, 1], "y": [0, None, 0]})
    domain = Domain(x=Numeric(0, 2, bins=2), y=Categorical([0]))
    assert count_marginals(rows, domain, [(0,)]).table((0,)).tolist() == [1, 1]


@pytest.mark.parametrize("embedded", [True, False], ids=["streamed", "grouped"])
def test_many_attributes_of_every_kind(embedded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lookups by equality and by order, trees of comparisons and arithmetic in one query."""
    if not embedded:
        monkeypatch.setattr("rowspace.sources.marginal_counting._EMBEDDED", frozenset())
    kinds = [
        Numeric(0, 20, bins=10),
        Numeric(edges=[0, 1, 4, 20]),
        Categorical(range(50)),
        Categorical(range(3), other="else"),
        Numeric(edges=np.arange(300.0) ** 2),
        Categorical(range(40), other="else"),
    ]
    domain = Domain({f"a{i}": kinds[i % 6] for i in range(24)})
    values = np.random.default_rng(5).integers(0, 20, size=(200, 24))
    rows = {f"a{i}": values[:, i].tolist() for i in range(24)}
    sets = [(0, 1), (2, 3), (4, 5), (21, 23), (6,), ()]
    tables = count_marginals(pa.table(rows), domain, sets)
    for attributes in sets[:-1]:
        part = domain.subset([domain.names[i] for i in attributes])
        np.testing.assert_array_equal(tables.table(attributes), oracle.counts(rows, part), strict=True)
    assert tables.table(()) == 200


def test_many_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables far larger than a batch and far smaller ones, with rows outside in some batches only."""
    monkeypatch.setattr(tallies, "_BATCH", 2048)
    rng = np.random.default_rng(8)
    values = rng.integers(0, [300, 300, 2], size=(10_000, 3))
    values[7000:7100] = -1
    domain = Domain(
        a=Numeric(0, 300, bins=300), b=Numeric(0, 300, bins=300), c=Numeric(0, 2, bins=2, outside="drop")
    )
    rows = pa.table({name: values[:, i] for i, name in enumerate("abc")})
    sets = all_sets(3, 3)
    assert_marginals(count_marginals(rows, domain, sets), count_cells(rows, domain), sets)


def test_no_rows_at_all() -> None:
    rows = pa.table({"a": pa.array([], pa.int64()), "b": pa.array([], pa.string())})
    domain = Domain(a=Numeric(0, 10, bins=2), b=Categorical(["F"], other="else"))
    tables = count_marginals(rows, domain, [(0, 1), (0,), ()])
    assert tables.table((0, 1)).tolist() == [[0, 0], [0, 0]]
    assert tables.table(()) == 0


def test_no_sets_at_all() -> None:
    assert count_marginals(pa.table({"x": [1]}), Domain(x=Categorical([1])), []).stacks == ()


def test_counts_made_elsewhere_are_summed() -> None:
    domain = Domain(a=Categorical([1, 2]), b=Categorical([1, 2, 3]), c=Categorical([1, 2]))
    counts = np.arange(12).reshape(2, 3, 2)
    sets = all_sets(3, 3)
    for source in (counts, counts.reshape(-1), counts.tolist()):
        assert_marginals(count_marginals(source, domain, sets), counts, sets)
    tables = count_marginals(counts, domain, [(0, 1, 2)])
    tables.table((0, 1, 2))[...] = 0
    assert counts.sum() == 66  # the caller's array is not touched


def test_stacks_hold_the_tables_of_a_shape() -> None:
    domain = Domain(a=Categorical([1, 2]), b=Categorical([1, 2, 3]), c=Categorical([1, 2]))
    tables = count_marginals(np.arange(12), domain, [(2,), (1,), (0,), (0, 1), (1, 2)])
    assert [stack.sets for stack in tables.stacks] == [((2,), (0,)), ((1,),), ((0, 1),), ((1, 2),)]
    for stack in tables.stacks:
        for attributes, table in zip(stack.sets, stack.counts, strict=True):
            np.testing.assert_array_equal(tables.table(attributes), table)
    assert (len(tables), tables.cells) == (5, 2 + 3 + 2 + 6 + 6)
    assert (0, 2) not in tables
    with pytest.raises(InvalidInput, match="counted"):
        tables.table((0, 2))


def test_a_source_that_changes_between_the_scans_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = ibis.memtable(pa.table({"x": np.arange(10_000)}))
    shifting = rows.filter(ibis.random() < 0.5)  # agreeing by chance: 1 in 125
    domain = Domain(x=Numeric(0, 10_000, bins=3))

    def count_repeatedly() -> None:
        for _ in range(5):  # agreeing five times by chance: 3e-11
            count_marginals(shifting, domain, [(0,)])

    for embedded in (frozenset({"duckdb"}), frozenset()):
        monkeypatch.setattr("rowspace.sources.marginal_counting._EMBEDDED", embedded)
        with pytest.raises(SourceError, match="differ") as refusal:
            count_repeatedly()
        assert not any(character.isdigit() for character in str(refusal.value))


@pytest.mark.parametrize("kind", ["arrow", "sqlite url"])
def test_progress_does_not_depend_on_data(kind: str, tmp_path: Path) -> None:
    domain = Domain({f"a{i}": Numeric(0, 120, bins=120) for i in range(8)})
    heard: list[list[float]] = []
    for rows in (1, 10, 3000):
        values = np.arange(rows) % 130
        folder = tmp_path / str(rows)
        folder.mkdir()
        data, table = KINDS[kind]({name: values.tolist() for name in domain.names}, folder)
        shares: list[float] = []
        count_marginals(data, domain, all_sets(8, 2), table=table, progress=shares.append)
        heard.append(shares)
    assert heard[0] == heard[1] == heard[2]
    assert heard[0] == sorted(heard[0])
    assert (heard[0][0], heard[0][-1]) == (0.0, 1.0)


def test_nothing_printed_shows_a_count(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    (tmp_path / "rows.csv").write_text("x,y\n" + "1,a\n" * 77 + f"99,a\n,a\n1,{MARK}\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tables = count_marginals(tmp_path / "rows.csv", DOMAIN, [(), (0,), (0, 1)])
    assert tables.table(()) == 77
    assert "".join([*capfd.readouterr(), caplog.text]) == ""
    assert "77" not in repr(tables) + str(tables) + repr(tables.stacks)


@pytest.mark.parametrize(
    "build", [text_in_csv, damaged_parquet, failing_ibis_query, failing_view, text_in_pandas]
)
def test_no_error_quotes_data(build: Callable[[Path], Any], tmp_path: Path) -> None:
    source = build(tmp_path)
    table = "people" if build is failing_view else None
    with pytest.raises(RowspaceError) as failure:
        count_marginals(source, DOMAIN, [(0,), (0, 1)], table=table)
    assert MARK not in everything_said_by(failure.value)
    assert failure.value.__cause__ is None
    assert failure.value.__context__ is None


def test_a_failure_while_streaming_quotes_no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """A value that fails only in the second scan: the check has passed, the codes come batch by batch."""
    monkeypatch.setattr("rowspace.sources.coding._rows_inside", lambda *arguments: 5000)
    rows = ibis.memtable(pa.table({"x": ["1"] * 5000 + [MARK], "y": ["a"] * 5001}))
    with pytest.raises(SourceError) as failure:
        count_marginals(rows.mutate(x=rows.x.cast("float64")), DOMAIN, [(0,)])
    assert MARK not in everything_said_by(failure.value)


def test_too_many_cells_are_refused_before_the_source_is_looked_at() -> None:
    domain = Domain({f"a{i}": Numeric(0, 1000, bins=1000) for i in range(30)})
    with pytest.raises(TooLarge, match=r"268,435,456 cells in all, got 435 tables of 435,000,000 cells"):
        count_marginals("there is no such file.csv", domain, list(combinations(range(30), 2)))


@pytest.mark.parametrize(
    ("sets", "complaint"),
    [
        ([(1, 0)], "increasing"),
        ([(0, 0)], "increasing"),
        ([(0, 2)], "from 0 to 1"),
        ([(-1,)], "from 0 to 1"),
        ([[0]], "tuple"),
        ([("x",)], "tuple"),
        ([(True,)], "tuple"),
        ([(0,), (0,)], "once"),
        ("x", "list of sets"),
        (7, "list of sets"),
    ],
)
def test_sets_that_are_none(sets: Any, complaint: str) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        count_marginals(pa.table({"x": [0], "y": [0]}), Domain(x=Categorical([0]), y=Categorical([0])), sets)


def test_other_wrong_arguments() -> None:
    domain, rows = Domain(x=Categorical([1])), pa.table({"x": [1]})
    with pytest.raises(InvalidInput, match="Domain"):
        count_marginals(rows, {"x": [1]}, [(0,)])  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="progress="):
        count_marginals(rows, domain, [(0,)], progress=7)  # type: ignore[arg-type]
    for source in (rows, "file.csv", [1]):
        with pytest.raises(InvalidInput, match="table="):
            count_marginals(source, domain, [(0,)], table="people")
    with pytest.raises(SourceError, match="shape"):
        count_marginals([1, 2, 3], domain, [(0,)])
