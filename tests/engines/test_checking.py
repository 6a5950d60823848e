"""A look at the data finds the same on every engine."""

from __future__ import annotations

import rowspace as rs
from tests.engines.engines import Engine

NAN = float("nan")
COLUMNS: dict[str, tuple[str, list[object]]] = {
    "score": ("number", [0.5, 30.0, 1e300, -1.0, None, NAN, 12.0]),
    "sex": ("text", ["F", " M", "m", None, "x", "x", "M"]),
    "day": (
        "text",
        ["2024-01-01", "2024-02-30", "2023-01-01", None, "2024-12-31", "soon", "2024-03-01"],
    ),
    "member": ("boolean", [True, True, None, True, False, True, True]),
    "who": ("integer", [1, 1, 1, 2, 2, 3, None]),
}
MANY = rs.Categorical([f"label {i}" for i in range(40)] + ["F", "M"])
DOMAIN = rs.Domain(
    score=rs.Numeric(0, 100, bins=10, integer=True),
    sex=MANY,
    day=rs.Dates("2024-01-01", "2025-01-01", every="month"),
    member=rs.Categorical([True]),
    who=rs.Categorical(["text"]),
)


def test_every_engine_finds_the_same(engine: Engine) -> None:
    types = {name: kind for name, (kind, _) in COLUMNS.items()}
    engine.fill("checked", types, list(zip(*(values for _, values in COLUMNS.values()), strict=True)))
    found = rs.check(DOMAIN, engine.source, table="checked", unit=rs.PrivacyUnit("who", rows=2))
    score, sex, day, member, who = found.columns
    assert (found.rows, found.counted) == (7, 6)
    assert (score.known, score.missing, score.below, score.above, score.decimals) == (3, 2, 1, 1, 1)
    assert (score.lowest, score.highest) == (-1, 1e300)
    assert (sex.known, sex.missing, sex.unlisted, sex.spaces, sex.case) == (2, 1, 4, 1, 1)
    assert sex.values[0] == ("x", 2)
    assert sorted(sex.values[1:]) == [(" M", 1), ("m", 1)]
    assert (day.known, day.missing, day.below, day.unreadable) == (3, 1, 1, 2)
    assert sorted(day.values) == [("2024-02-30", 1), ("soon", 1)]
    assert (member.known, member.missing, member.unlisted) == (5, 1, 1)
    assert "must hold text" in (who.refusal or "")
    assert found.unit is not None
    assert [(cap.rows, cap.left_out) for cap in found.unit.caps] == [(1, 3), (2, 1), (3, 0)]
