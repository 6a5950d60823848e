"""What must change no answer: the order of attributes, categories, rows and parts, other attributes, weights.

Without noise, so that every answer is a count; the truth is that of the raw table under the first declaration.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest

import rowspace as rs
from rowspace.domain import Categorical, Domain

from .questions import Count, Table, random_condition, random_table
from .worlds import random_domain, random_table_of

Variant = tuple[str, Domain, pd.DataFrame]


def variants(domain: Domain, raw: pd.DataFrame, rng: np.random.Generator) -> Iterator[Variant]:
    """The same table under another declaration."""
    yield "as it is", domain, raw
    yield "attributes in another order", Domain(list(domain.attributes)[::-1]), raw
    shuffled = {name: _shuffled(attribute, rng) for name, attribute in domain.attributes}
    yield "categories in another order", Domain(shuffled), raw
    yield "rows in another order", domain, raw.sample(frac=1.0, random_state=int(rng.integers(2**31)))
    columns = rng.permutation(list(raw.columns)).tolist()
    yield "columns in another order", domain, raw[columns]
    more = {"nobody asks": rs.Numeric(0, 9, bins=3), **dict(domain.attributes)}
    yield "one more attribute", Domain(more), raw.assign(**{"nobody asks": 4})


def _shuffled(attribute: object, rng: np.random.Generator) -> object:
    if not isinstance(attribute, Categorical):
        return attribute
    values = [attribute.values[at] for at in rng.permutation(len(attribute.values))]
    levels = {name: dict(mapping) for name, mapping in attribute.levels.items()}
    return Categorical(values, other=attribute.other, levels=levels)


@pytest.mark.parametrize("seed", range(4))
def test_declarations_and_orders_change_no_answer(seed: int) -> None:
    rng = np.random.default_rng([seed, 2])
    domain = random_domain(rng)
    raw = random_table_of(domain, rng, 150)
    counts = [Count(domain, random_condition(domain, rng)) for _ in range(3)]
    tables = [random_table(domain, rng, most=2, where=False) for _ in range(2)]
    privacy = rs.ZCDP(1e10) if seed % 2 else rs.PureDP(1e7)
    for what, declared, table in variants(domain, raw, rng):
        weights = rng.choice([0.2, 1.0, 5.0], 5).tolist()
        parts = [rs.workload.predicates(declared, [question.text]) for question in counts]
        parts += [rs.workload.marginal(declared, *question.names) for question in tables]
        order = rng.permutation(5).tolist()
        queries = sum(weights[at] * parts[at] for at in order)
        made = rs.release(rs.plan(queries, privacy, effort="fast"), table)
        for question in counts:
            for asked in (question.text, question.sql):
                found = made.ask(asked)["answer"].to_numpy()
                np.testing.assert_array_equal(np.rint(found), question.truth(raw), err_msg=what)
        for question in tables:
            check_table(made, question, raw, what)


def check_table(made: rs.Release, question: Table, raw: pd.DataFrame, what: str) -> None:
    """By labels: other orders show the same counts under the same words."""
    shown = made.table(*question.names).answer
    truth = question.truth(raw).reshape([len(question.labels(name)) for name in question.ordered])
    truth = truth.transpose([question.ordered.index(name) for name in question.names])
    for at in np.ndindex(truth.shape):
        labels = [question.labels(name)[index] for name, index in zip(question.names, at, strict=True)]
        found = shown.loc[labels[0], labels[1] if len(labels) == 2 else "count"]
        assert round(found) == truth[at], (what, labels)
