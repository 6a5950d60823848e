"""Contribution bounds on every engine."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rowspace.domain import Categorical, Domain, Numeric
from rowspace.privacy import PrivacyUnit
from rowspace.sources import contributions, count_cells, count_marginals
from tests.engines.engines import Engine
from tests.engines.postgres import PostgresServer

UNIT = 'whose"; -- ü'
RECORDS = [
    (age, sex, who)
    for who, number in (("a", 7), ("b", 2), ("c\"';", 1), (None, 4))
    for age, sex in [(i % 4, "FM"[i % 2]) for i in range(number)]
] + [(9, "F", "b"), (None, "F", "b"), (1, "x", "d")]


def test_every_engine_keeps_the_same_number(engine: Engine) -> None:
    engine.fill("owned", {"age": "integer", "sex": "text", UNIT: "text"}, RECORDS)
    domain = Domain(
        {
            "age": Numeric(0, 4, bins=4),
            "sex": Categorical(["F", "M"]),
            UNIT: Categorical(["a", "b", "c\"';", "d"]),
        }
    )
    for most, kept in ((1, [1, 1, 1, 0]), (3, [3, 2, 1, 0]), (50, [7, 2, 1, 0])):
        counts = count_cells(engine.source, domain, table="owned", unit=PrivacyUnit(UNIT, most))
        assert counts.sum(axis=(0, 1)).tolist() == kept


@pytest.mark.parametrize("kind", ["integer", "number"])
def test_the_same_key_gives_the_same_choice_everywhere(
    engine: Engine, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The digest is of what the rows say, not of how an engine stores them: the counts agree with plain Python."""
    import hashlib

    monkeypatch.setattr(contributions.secrets, "token_hex", lambda size: "key")
    records = [(i * 7 % 4, who) for who in range(5) for i in range(10)]
    engine.fill(
        f"keyed {kind}",
        {"age": "integer", "who": kind},
        [(age, who if kind == "integer" else float(who)) for age, who in records],
    )
    expected = np.zeros(4, np.int64)
    for who in range(5):
        seen = np.zeros(4, np.int64)
        draws = []
        for age, owner in records:
            if owner == who:
                text = f"{hashlib.md5(f'key:{who}'.encode()).hexdigest()}:{age}:{seen[age]}"
                draws.append((hashlib.md5(text.encode()).hexdigest(), age))
                seen[age] += 1
        for _, age in sorted(draws)[:3]:
            expected[age] += 1
    counts = count_cells(
        engine.source, Domain(age=Numeric(0, 4, bins=4)), table=f"keyed {kind}", unit=PrivacyUnit("who", 3)
    )
    assert counts.tolist() == expected.tolist()


def test_units_that_are_no_whole_numbers(engine: Engine) -> None:
    """Any number says whose a row is; equal ones are one unit. (NaN is nobody in Spark, one unit elsewhere.)"""
    infinity = float("inf")
    units = [
        0.1234567890123456,
        0.1234567890123457,
        1e300,
        -1e300,
        2.0**53,
        2.0**63,
        infinity,
        -infinity,
        2.5,
    ]
    engine.fill(
        "real", {"age": "integer", "who": "number"}, [(i % 4, who) for who in units for i in range(3)]
    )
    engine.fill("zeros", {"age": "integer", "who": "number"}, [(0, 0.0), (1, -0.0), (2, 0.0), (3, -0.0)])
    domain, unit = Domain(age=Numeric(0, 4, bins=4)), PrivacyUnit("who", 2)
    assert count_cells(engine.source, domain, table="real", unit=unit).sum() == 2 * len(units)
    assert count_cells(engine.source, domain, table="zeros", unit=unit).sum() == 2


@pytest.mark.parametrize("most", [1, 3])
def test_a_collation_leaves_no_choice_to_the_order_of_the_table(
    server: PostgresServer, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """u and U are one unit here: were they equal rows as well, a sort of the whole table would decide among them."""
    monkeypatch.setattr(contributions.secrets, "token_hex", lambda size: "key")
    options = "provider = icu, locale = 'und-u-ks-level2', deterministic = false"
    server.run(f"CREATE COLLATION IF NOT EXISTS folding ({options})")
    records = [
        (age, who)
        for u in "abcdef"
        for age, who in zip((0, 0, 0, 1, 1, 2, 3), 3 * (u + u.upper()) + u, strict=True)
    ]
    found = set()
    for seed in range(5):
        table = f"folded {most} {seed}"
        order = np.random.default_rng(seed).permutation(len(records)).tolist()
        server.fill(table, {"age": "integer", "who": 'text COLLATE "folding"'}, [records[i] for i in order])
        domain, unit = Domain(age=Numeric(0, 4, bins=4)), PrivacyUnit("who", most)
        found.add(count_cells(server.url(), domain, table=table, unit=unit).tobytes())
    assert len(found) == 1


def test_all_tables_are_of_the_same_choice(engine: Engine) -> None:
    """Marginals counted by several queries agree on how many rows of each cell were kept."""
    records = [(i % 4, "FM"[i % 3 % 2], who) for who in range(6) for i in range(9)]
    engine.fill("several", {"age": "integer", "sex": "text", "who": "integer"}, records)
    domain = Domain(age=Numeric(0, 4, bins=4), sex=Categorical(["F", "M"]), who=Categorical(range(6)))
    sets = [(0, 1), (0, 2), (1, 2)]
    tables = count_marginals(engine.source, domain, sets, table="several", unit=PrivacyUnit("who", 2))
    age_sex, age_who, sex_who = (tables.table(attributes) for attributes in sets)
    assert age_who.sum(axis=0).tolist() == sex_who.sum(axis=0).tolist() == [2] * 6
    assert age_sex.sum(axis=1).tolist() == age_who.sum(axis=1).tolist()
    assert age_sex.sum(axis=0).tolist() == sex_who.sum(axis=1).tolist()


def test_every_engine_counts_units_once_in_a_cell(engine: Engine) -> None:
    engine.fill("visited", {"age": "integer", "sex": "text", UNIT: "text"}, RECORDS)
    domain = Domain(age=Numeric(0, 4, bins=4), sex=Categorical(["F", "M"]))
    cells = {
        (who, age, sex) for age, sex, who in RECORDS if age in range(4) and sex in "FM" and who is not None
    }
    counts = count_cells(engine.source, domain, table="visited", unit=PrivacyUnit(UNIT, 50, distinct=True))
    expected = np.zeros((4, 2), np.int64)
    for _, age, sex in cells:
        expected[age, "FM".index(sex)] += 1
    np.testing.assert_array_equal(counts, expected)
    few = count_cells(engine.source, domain, table="visited", unit=PrivacyUnit(UNIT, 1, distinct=True))
    assert few.sum() == len({who for who, _, _ in cells})


def test_every_engine_counts_units_in_the_same_periods(engine: Engine) -> None:
    """With the same key the very same rows as in DuckDB: of the first periods, far enough apart."""
    rng = np.random.default_rng(4)
    records = [(int(rng.integers(6)), "FM"[rng.integers(2)], int(rng.integers(9))) for _ in range(90)]
    engine.fill("returning", {"age": "integer", "sex": "text", "who": "integer"}, records)
    frame = pd.DataFrame(records, columns=["age", "sex", "who"])
    domain = Domain(age=Numeric(0, 6, bins=6, outside="drop"), sex=Categorical(["F", "M"]))
    for unit in (PrivacyUnit("who", 1, periods=3, apart=2), PrivacyUnit("who", 2, True, periods=2)):
        found = count_cells(engine.source, domain, table="returning", unit=unit, over="age", key="key")
        np.testing.assert_array_equal(found, count_cells(frame, domain, unit=unit, over="age", key="key"))
