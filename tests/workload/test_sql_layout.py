"""The table that one SELECT promises: every answer beside the labels of its own group."""

from __future__ import annotations

import pytest

import rowspace as rs
from rowspace.exceptions import PredicateError, TooLarge
from rowspace.workload import sql
from rowspace.workload.sql_queries.layout import columns_of, read_layout

TOWNS = rs.Categorical(["a", "b", "c"], levels={"land": {"a": "n", "b": "n", "c": "s"}})
DOMAIN = rs.Domain(
    age=rs.Numeric(0, 4, bins=4, integer=True),
    sex=rs.Categorical(["F", "M"]),
    town=TOWNS,
    w=rs.Numeric(0, 100, bins=10),
    day=rs.Dates("2024-01-01", "2024-04-01", every="month"),
    flag=rs.Categorical([False, True]),
    measures=[rs.Measure("inc", 0, 100)],
)


def read(text: str) -> list[tuple[object, ...]]:
    """The rows, each answer as the words that the workload has for it."""
    layout = read_layout(DOMAIN, text, 10_000)
    workload = sql(DOMAIN, layout.question)
    words = [*workload.labels(), *workload.shown.labels(workload.size)]
    assert len(words) == layout.size
    assert columns_of(DOMAIN, text) == layout.columns
    kinds = [column.kind for column in layout.columns]
    rows = layout.arranged([float(number) for number in range(layout.size)])
    return [
        tuple(words[v] if k == "figure" and v is not None else v for k, v in zip(kinds, row, strict=True))  # type: ignore[call-overload]
        for row in rows
    ]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("SELECT COUNT(*) FROM t", [("all records",)]),
        ("SELECT COUNT(*), sex FROM t GROUP BY sex", [("sex = F", "F"), ("sex = M", "M")]),
        (
            "SELECT age, COUNT(*) FROM t WHERE age >= 2 AND sex = 'F' GROUP BY age ORDER BY age DESC",
            [(3, "age = 3 and sex = 'F'"), (2, "age = 2 and sex = 'F'")],
        ),
        (
            "SELECT sex, COUNT(*) n, COUNT(*) FILTER (WHERE sex = 'F') FROM t GROUP BY sex ORDER BY 2 DESC",
            [("M", "sex = M", None), ("F", "sex = F", "sex = 'F'")],
        ),
        (
            "SELECT land, AVG(inc), COUNT(*) FROM t GROUP BY land",
            [("n", "mean of inc, land = n", "land = n"), ("s", "mean of inc, land = s", "land = s")],
        ),
        (
            "SELECT land, town, COUNT(*) FROM t GROUP BY ROLLUP (land, town) LIMIT 4 OFFSET 2 -- cut",
            [("s", "c", "town = 'c'"), ("n", None, "land = n"), ("s", None, "land = s"), (None, None, "all records")],
        ),
        (
            "SELECT CASE WHEN age < 2 AND sex = 'F' THEN 'girl' END k, COUNT(*) FROM t WHERE sex = 'F' GROUP BY k",
            [("girl", "age < 2 and sex = 'F'"), (None, "(age >= 2 or age is missing) and sex = 'F'")],
        ),
        (
            "SELECT FLOOR(w / 50) * 50 s, COUNT(*) FROM t GROUP BY 1 LIMIT ALL",
            [("[0, 50)", "w < 50"), ("[50, 100)", "w >= 50")],
        ),
        (
            "SELECT EXTRACT(month FROM day), COUNT(*) FROM t WHERE day < '2024-02-01' GROUP BY 1",
            [("1", "day < '2024-02-01'")],
        ),
        ("SELECT flag, COUNT(*) FROM t WHERE flag GROUP BY flag", [("True", "flag = true")]),
        ("SELECT CASE WHEN 1 = 1 THEN 'x' END, COUNT(*) FROM t GROUP BY 1", [("x", "all records")]),
    ],
)  # fmt: skip
def test_every_answer_is_beside_its_labels(text: str, rows: list[tuple[object, ...]]) -> None:
    assert read(text) == rows


def test_columns_are_named_as_postgresql_names_them() -> None:
    text = (
        "SELECT sex AS s, CASE WHEN age < 2 THEN 1 END, COUNT(*), SUM(inc), AVG(inc) m FROM t GROUP BY 1, 2"
    )
    assert [(one.name, one.kind) for one in columns_of(DOMAIN, text)] == [
        ("s", "text"), ("case", "text"), ("count", "figure"), ("sum", "figure"), ("m", "figure"),
    ]  # fmt: skip


def test_what_has_no_such_table_is_refused() -> None:
    with pytest.raises(PredicateError, match="not selected"):
        read("SELECT COUNT(*) FROM t ORDER BY sex")
    with pytest.raises(PredicateError, match="LIMIT"):
        read("SELECT COUNT(*) FROM t LIMIT 1 + 1")
    with pytest.raises(TooLarge, match="40 answers exceed 39"):
        read_layout(DOMAIN, "SELECT age, w, COUNT(*) FROM t GROUP BY age, w", 39)
