"""Keys that nobody declared, on every engine."""

from __future__ import annotations

from collections import Counter

import pandas as pd

import rowspace as rs
from rowspace.privacy import PrivacyUnit
from rowspace.sources import count_keys
from tests.engines.engines import Engine

RECORDS = [
    (town, code, who)
    for who, keys in (
        ("p", [("ü", 1), ("ü", 1), ("a:b", 2), ("A", -3)]),
        ("q", [("a", 1), (None, 1), ("a", None)]),
        (None, [("ü", 1)]),
        ("r'; --", [("ü", 1), ("x\\", 2**60)]),
    )
    for town, code in keys
]


def test_every_engine_finds_the_same_keys(engine: Engine) -> None:
    engine.fill("found", {"town": "text", "code": "integer", "who": "text"}, RECORDS)

    def counted(columns: list[str], unit: PrivacyUnit | None = None) -> dict[tuple[object, ...], int]:
        found = count_keys(engine.source, columns, table="found", unit=unit)
        keys = zip(*(column.to_pylist() for column in found.columns), strict=True)
        return dict(zip(keys, found.counts.tolist(), strict=True))

    assert counted(["town"]) == Counter((town,) for town, _, _ in RECORDS if town is not None)
    both = [(town, code, who) for town, code, who in RECORDS if town is not None and code is not None]
    assert counted(["town", "code"]) == Counter((town, code) for town, code, _ in both)
    owned = {record for record in both if record[2] is not None}
    assert counted(["town", "code"], PrivacyUnit("who", 9)) == Counter(record[:2] for record in owned)
    assert sum(counted(["town", "code"], PrivacyUnit("who", 1)).values()) == 3


def test_discover_and_bounds_on_every_engine(engine: Engine) -> None:
    records = [(town, float(value)) for value, town in enumerate(["x", "y"] * 200)]
    engine.fill("seen", {"town": "text", "value": "number"}, records)
    found = rs.discover(engine.source, "town", privacy=rs.ApproxDP(1.0, 1e-8), table="seen")
    assert found.categorical == rs.Categorical(["x", "y"], other="other")
    ends = rs.bounds(engine.source, "value", 1000.0, table="seen", inside=0.99)
    frame = pd.DataFrame(records, columns=["town", "value"])
    assert frame["value"].between(ends.low, ends.high, inclusive="left").mean() >= 0.99
    assert ends.high == 512.0
