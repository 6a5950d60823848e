"""Any input gives a value or one `RowspaceError`: every parser, with spoilt input and with input from nowhere.

`audits/fuzz.py` feeds 100,000 inputs to each; here are a few hundred, chosen by Hypothesis.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from audits.fuzz import PARSERS, inputs_for, run
from audits.fuzzing.attack import Outcome, Parser, feed
from audits.fuzzing.mutation import NUMBERS, STRINGS, spoil_bytes, spoil_text, spoil_tree
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

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


@given(SEEDS)
@settings(few_hundred, max_examples=15)  # each starts an engine
def test_csv_files(seed: int) -> None:
    check_drawn("csv", seed)


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


@pytest.mark.parametrize("name", PARSERS)
def test_the_long_version_is_long_enough(name: str) -> None:
    assert inputs_for(name, long=True) >= (4_000 if name == "csv" else 100_000)
    assert callable(run)
