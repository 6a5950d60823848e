"""Any input gives a value or one `RowspaceError`: every parser, with spoilt input and with input from nowhere.

`audits/fuzz.py` feeds 100,000 inputs to each; here are a few hundred, chosen by Hypothesis.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from audits.fuzz import LONG, PARSERS, SHARD, run
from audits.fuzzing.archives import plans
from audits.fuzzing.attack import Outcome, Parser, feed
from audits.fuzzing.mutation import NUMBERS, STRINGS, spoil_bytes, spoil_text, spoil_tree
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rowspace.tables import Marginals, Residuals, TableOperator

SEEDS = st.integers(0, 2**64 - 1)
TREES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.sampled_from(NUMBERS), st.sampled_from(STRINGS), st.text(max_size=5)
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.sampled_from(
                ["operator", "n", "parts", "attributes", "kind", "name", "domain", "factors", "privacy"]
            ),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=12,
)
few_hundred = settings(
    max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
)


@cache
def parser(name: str) -> Parser:
    return PARSERS[name]()


def check(name: str, value: object) -> None:
    outcome = Outcome()
    feed(parser(name), value, outcome)
    assert not outcome.failures, outcome.failures[0]


def check_drawn(name: str, seed: int) -> None:
    check(name, parser(name).draw(np.random.default_rng(seed)))


@given(SEEDS, st.text())
@few_hundred
def test_study_files(seed: int, text: str) -> None:
    check_drawn("studies", seed)
    check("studies", text)


@given(SEEDS, st.text())
@few_hundred
def test_predicates(seed: int, text: str) -> None:
    check_drawn("predicates", seed)
    check("predicates", text)


@given(SEEDS, TREES)
@few_hundred
def test_saved_domains(seed: int, tree: object) -> None:
    check_drawn("domains", seed)
    check("domains", tree)


@given(SEEDS, TREES)
@few_hundred
def test_saved_workloads(seed: int, tree: object) -> None:
    check_drawn("workloads", seed)
    check("workloads", (tree, {}))


@given(SEEDS, TREES)
@few_hundred
def test_saved_guarantees(seed: int, tree: object) -> None:
    check_drawn("guarantees", seed)
    check("guarantees", (False, tree))
    check("guarantees", (True, tree))


@given(SEEDS, TREES)
@few_hundred
def test_saved_operators(seed: int, tree: object) -> None:
    check_drawn("operators", seed)
    check("operators", (tree, {}))


@given(SEEDS, st.binary())
@few_hundred
def test_plan_files(seed: int, data: bytes) -> None:
    check_drawn("plans", seed)
    check("plans", data)


@given(SEEDS, st.binary())
@few_hundred
def test_release_files(seed: int, data: bytes) -> None:
    check_drawn("releases", seed)
    check("releases", data)


@given(SEEDS, st.sampled_from(["cells", "marginals", "units"]), st.binary())
@settings(few_hundred, max_examples=50)  # an engine counts each
def test_csv_files(seed: int, way: str, data: bytes) -> None:
    check_drawn("csv", seed)
    check("csv", (way, "rows.csv", data))
    check("csv", (way, "rows.csv.gz", data))


@given(SEEDS)
@few_hundred
def test_csv_files_with_one_more_line(seed: int) -> None:
    check_drawn("lines", seed)


def test_files_hold_strategies_of_every_kind() -> None:
    kinds = {type(plan.strategy).__name__ for plan in plans()}
    assert kinds >= {"Marginals", "Residuals", "Stack", "Merged", "Extended", "Composed"}
    tables = [plan.strategy for plan in plans() if isinstance(plan.strategy, TableOperator)]
    assert {(type(A), A.all_cells_alike) for A in tables} == {
        (kind, alike) for kind in (Marginals, Residuals) for alike in (False, True)
    }


def test_the_fuzzer_notices() -> None:
    """A crash, a hang and a warning are each a failure; a refusal is not."""
    broken = Parser("broken", lambda rng: rng, lambda value: value["x"])
    outcome = Outcome()
    feed(broken, {}, outcome)
    feed(broken, {"x": 1}, outcome)
    assert (outcome.accepted, len(outcome.failures)) == (1, 1)
    assert "KeyError" in outcome.failures[0]


def test_spoiling_changes_things() -> None:
    """Mutations are not no-ops: most spoilt inputs differ from the valid one."""
    rng = np.random.default_rng(0)
    tree = {"a": [1, 2.5, "x"], "b": {"c": None}}
    assert sum(spoil_bytes(rng, b"hello, world") != b"hello, world" for _ in range(100)) > 60
    assert sum(spoil_text(rng, "age >= 18", ("and",)) != "age >= 18" for _ in range(100)) > 60
    assert sum(spoil_tree(rng, tree, [tree]) != tree for _ in range(100)) > 60
    assert tree == {"a": [1, 2.5, "x"], "b": {"c": None}}


def test_the_long_version_is_long_enough() -> None:
    """Every parser gets 100,000 inputs, in shards that do not repeat one another."""
    assert LONG >= 100_000
    assert LONG % SHARD == 0
    some = parser("predicates")
    drawn = [[some.draw(np.random.default_rng((1, at))) for _ in range(5)] for at in range(2)]
    assert drawn[0] != drawn[1]


def test_every_parser_has_a_row() -> None:
    """A short run of the audit itself, as `make audit` makes a long one."""
    rows = run(long=False, names=["guarantees", "targets"])
    assert [row.ok for row in rows] == [True, True]
    assert all("400 inputs" in row.figure for row in rows)
