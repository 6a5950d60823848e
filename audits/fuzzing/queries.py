"""SQL and error targets: texts of a query language, from loose words and spoilt."""

from __future__ import annotations

import numpy as np

import rowspace as rs
from audits.fuzzing.attack import Parser
from audits.fuzzing.mutation import pick, spoil_text
from rowspace.planning import parse_target

DOMAIN = rs.Domain(
    age=rs.Numeric(0, 12, bins=6),
    sex=rs.Categorical(["F", "M"]),
    employed=rs.Categorical([True, False], other="?"),
)

SQL_SEEDS = (
    "SELECT sex, COUNT(*) AS n FROM t WHERE age < 4 AND sex = 'F' GROUP BY sex",
    "SELECT CASE WHEN age < 4 THEN 1 ELSE 0 END, SUM(CASE WHEN employed THEN 1 ELSE 0 END) FROM t GROUP BY 1",
    "SELECT COUNT(*) FILTER (WHERE age BETWEEN 4 AND 7) FROM t GROUP BY CUBE (sex, age)",
    "-- name: old\nSELECT age, sex, COUNT(*) FROM t GROUP BY GROUPING SETS ((age), (sex), ()); SELECT COUNT(*) FROM t",
    "SELECT COUNT(*) FROM t WHERE NOT (age IN (0, 2) OR sex <> 'M') AND employed IS NULL",
)
SQL_SOUP = """
SELECT COUNT ( * ) SUM CASE WHEN THEN ELSE END FROM t WHERE GROUP BY CUBE ROLLUP GROUPING SETS AND OR NOT
IN BETWEEN IS NULL TRUE = <> < <= > >= , ; . age sex employed zone 'F' 'M' 1 0 4 12 -3 2.5 1e999 AS n
FILTER HAVING LIMIT JOIN ON UNION DISTINCT OVER WITH [ ] { } :: -> ? :x @v $1 " ` -- /* */ || + EXISTS
LATERAL VALUES INTERVAL DROP TABLE INSERT PRAGMA \x00 \ud800 é ((((((((
"""
SQL_WORDS = tuple(SQL_SOUP.split())
TARGET_SEEDS = ("ranges of age: ±50 @95%", "±20", "sex × region: +-3.5 @ 0.9", "age: ±1e3 @99.9 %")
TARGET_WORDS = ("±", "+-", "@", "%", ":", "1e999", "nan", "-5", "0", "100", "×", "\x00", "é", "  ", "٣")


def sql_texts() -> Parser:
    """SQL workloads: loose words, and queries spoilt by other words."""

    def draw(rng: np.random.Generator) -> str:
        if rng.random() < 0.3:
            words = " ".join(str(pick(rng, SQL_WORDS)) for _ in range(int(rng.integers(1, 20))))
            return f"SELECT COUNT(*) FROM t {words}"
        return spoil_text(rng, str(pick(rng, SQL_SEEDS)), SQL_WORDS)

    return Parser("SQL workloads", draw, lambda text: rs.workload.sql(DOMAIN, text).labels(0, 1))


def targets() -> Parser:
    """Error targets of the command line."""
    return Parser(
        "error targets",
        lambda rng: spoil_text(rng, str(pick(rng, TARGET_SEEDS)), TARGET_WORDS),
        parse_target,
    )
