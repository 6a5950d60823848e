"""Errors about types name a kind: never what one record decides."""

from __future__ import annotations

from decimal import Decimal

import ibis
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from rowspace.domain import Categorical, Domain, Numeric
from rowspace.exceptions import SourceError
from rowspace.privacy import PrivacyUnit
from rowspace.sources import count_cells
from rowspace.sources.columns import type_name

NUMBERS, TEXTS = Domain(x=Numeric(0, 10, bins=5)), Domain(x=Categorical(["a"]))


def said(source: object, domain: Domain, **named: object) -> str:
    with pytest.raises(SourceError) as failure:
        count_cells(source, domain, **named)  # type: ignore[arg-type]
    return str(failure.value)


@pytest.mark.parametrize(
    ("one", "other", "domain", "kind"),
    [
        ([Decimal("1.5")], [Decimal("1.5"), Decimal("123456789.123456")], TEXTS, "got a decimal"),
        (pa.array([1], pa.int8()), pa.array([1], pa.int64()), TEXTS, "got an integer"),
        (
            pd.Series(pd.to_datetime(["2024-01-01"])),
            pd.Series(pd.to_datetime(["2024-01-01"], utc=True)),
            NUMBERS,
            "got a timestamp",
        ),
        ([{"a": 1}], [{"a": 1, "SECRET": 2}], NUMBERS, "got a nested type"),
        ([b"a"], [b"abc"], NUMBERS, "got binary data"),
    ],
    ids=["decimal", "integer", "timestamp", "nested", "binary"],
)
def test_one_record_does_not_change_an_error(one: object, other: object, domain: Domain, kind: str) -> None:
    first, second = (said(pa.table({"x": pa.array(values)}), domain) for values in (one, other))
    assert first == second
    assert kind in first
    assert not [character for character in first if character.isdigit()]


def test_arrays_and_units_and_large_categories() -> None:
    texts = [said(np.array(values), NUMBERS) for values in (["1"] * 5, ["1", "2", "3", "4", "SECRET"])]
    assert texts[0] == texts[1]
    assert "an array of text" in texts[0]
    unit = said(pa.table({"x": [1.0], "u": [{"SECRET": 1}]}), NUMBERS, unit=PrivacyUnit("u", 1))
    assert "got a nested type" in unit
    large = Domain(x=Categorical([2**60, 1]))
    assert "holds a decimal" in said(pa.table({"x": pa.array([Decimal("1.25")])}), large)


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("decimal(38, 7)", "a decimal"),
        ("timestamp('Europe/Bern', 6)", "a timestamp"),
        ("array<int8>", "a nested type"),
        ("map<string, int8>", "a nested type"),
        ("struct<secret: int8>", "a nested type"),
        ("float32", "a floating-point number"),
        ("uint8", "an integer"),
        ("boolean", "a boolean"),
        ("string", "text"),
        ("date", "a date"),
        ("time", "a time of day"),
        ("interval('s')", "an interval"),
        ("uuid", "a UUID"),
        ("json", "JSON"),
        ("binary", "binary data"),
        ("inet", "another type"),
    ],
)
def test_every_kind_has_a_name(written: str, kind: str) -> None:
    assert type_name(ibis.dtype(written)) == kind
