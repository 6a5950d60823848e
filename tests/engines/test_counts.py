"""The same domain on every engine gives the counts that plain Python gives."""

from __future__ import annotations

import numpy as np
import pytest

from rowspace.domain import Categorical, Domain, Numeric
from rowspace.sources import count_cells
from tests.engines.engines import Engine
from tests.sources import oracle

NAN, INFINITY = float("nan"), float("inf")
ODD = "we\"ird; näme' `x` --"
TABLE = "people\"; DROP TABLE x; -- ü `y` '"

COLUMNS: dict[str, tuple[str, list[object]]] = {
    "score": (
        "number",
        [0.0, 0.3, 0.1 + 0.2, 1.0, -1e300, 1e300, None, NAN, INFINITY, -INFINITY, 0.7, 0.7, -0.0, 5e-324],
    ),
    "age": ("integer", [0, 17, 18, 64, 65, -1, 120, None, 2**62, 30, 30, 30, 119, 18]),
    ODD: ("text", ["01", "1", None, "x'; --", "01", "", " 01", "ü", "01", "1", "01", "nope", "ü", "A\\"]),
    "group": ("integer", [1, 2, 3, 1, 2, None, 7, -5, 3, 3, 1, 1, 2, 2**60]),
    "member": (
        "boolean",
        [True, False, None, True, True, False, None, False, True, True, False, True, True, False],
    ),
    "unused": ("text", [f"row {i}" for i in range(14)]),
}
ROWS = {name: values for name, (_, values) in COLUMNS.items()}
TEXT = Categorical(["01", "1", "ü", "x'; --", "A\\"])
MANY_TEXT = Categorical([f"label {i}" for i in range(40)] + ["ü", "01", "A\\", "x'; --"])
UNEQUAL = np.array([-3.0, 0.0, 0.1, 0.30000000000000004, 0.7, 0.9])

DOMAINS = {
    "equal bins": Domain(score=Numeric(0, 1, bins=10)),
    "equal bins clipped": Domain(score=Numeric(0, 1, bins=10, outside="clip")),
    "equal bins of an odd width": Domain(score=Numeric(-0.1, 1.1, bins=7)),
    "unequal bins": Domain(score=Numeric(edges=UNEQUAL)),
    "unequal bins clipped": Domain(score=Numeric(edges=UNEQUAL, outside="clip")),
    "tiny and huge edges": Domain(score=Numeric(edges=[-1e200, -5e-324, 5e-324, 1e-3, 1e200])),
    "integers": Domain(age=Numeric(0, 120, bins=120)),
    "integers clipped": Domain(age=Numeric(edges=[18, 30, 65], outside="clip")),
    "text": Domain({ODD: TEXT}),
    "text, other": Domain({ODD: Categorical(TEXT.values, other="else")}),
    "many categories": Domain({ODD: MANY_TEXT}),
    "many categories, other": Domain({ODD: Categorical(MANY_TEXT.values, other="else")}),
    "integer categories": Domain(group=Categorical([3, 1, -5, 2**60, 2**60 + 1])),
    "integer categories, other": Domain(group=Categorical([3, 1, -5], other="else")),
    "many integer categories": Domain(group=Categorical(range(-20, 20))),
    "booleans": Domain(member=Categorical([True, False])),
    "booleans, other": Domain(member=Categorical([False, True], other="missing")),
    "taxonomy": Domain(
        {ODD: Categorical(["01", "1"], levels={"kind": {"01": "number", "1": "number"}})},
    ),
    "product": Domain(
        {
            "group": Categorical([1, 2, 3], other="else"),
            "score": Numeric(-1, 1, bins=4, outside="clip"),
            "age": Numeric(edges=[0, 18, 65, 120]),
            ODD: TEXT,
            "member": Categorical([True], other="not"),
        }
    ),
}


@pytest.fixture(scope="module")
def filled(engine: Engine) -> Engine:
    types = {name: kind for name, (kind, _) in COLUMNS.items()}
    engine.fill(TABLE, types, list(zip(*ROWS.values(), strict=True)))
    return engine


@pytest.mark.parametrize("name", DOMAINS)
def test_every_engine_agrees_with_the_oracle(filled: Engine, name: str) -> None:
    domain = DOMAINS[name]
    counts = count_cells(filled.source, domain, table=TABLE)
    assert counts.dtype == np.int64
    np.testing.assert_array_equal(counts, oracle.counts(ROWS, domain))


def test_no_rows_at_all(engine: Engine) -> None:
    engine.fill("empty", {"age": "integer", "sex": "text"}, [])
    domain = Domain(age=Numeric(0, 10, bins=2), sex=Categorical(["F"], other="else"))
    assert count_cells(engine.source, domain, table="empty").tolist() == [[0, 0], [0, 0]]


def test_random_rows(engine: Engine) -> None:
    """Edges that floating point does not hold, and values on and next to them: a thousand rows, two attributes."""
    rng = np.random.default_rng(7)
    attribute = Numeric(0, 1, bins=30)
    near = np.concatenate([np.nextafter(attribute.edges, side) for side in (-INFINITY, INFINITY)])
    scores = rng.choice(np.concatenate([attribute.edges, near, rng.random(100)]), 1000).tolist()
    codes = rng.integers(-1, 60, 1000).tolist()
    engine.fill("random", {"score": "number", "code": "integer"}, list(zip(scores, codes, strict=True)))
    domain = Domain(score=attribute, code=Categorical(range(50), other="else"))
    np.testing.assert_array_equal(
        count_cells(engine.source, domain, table="random"),
        oracle.counts({"score": scores, "code": codes}, domain),
    )


def test_the_smallest_numbers_are_counted_too(engine: Engine) -> None:
    """PostgreSQL refuses a quotient that is too small for a number: one record would refuse the whole table."""
    engine.fill("tiny numbers", {"x": "number"}, [(5e-324,), (-5e-324,), (1.0,), (1e300,)])
    for attribute, counts in (
        (Numeric(0, 100, bins=10), [2] + [0] * 9 + [2]),
        (Numeric(0, 1e30, bins=2, outside="clip"), [3, 1, 0]),
    ):
        domain = Domain(x=attribute).with_places()
        assert count_cells(engine.source, domain, table="tiny numbers").tolist() == counts
