"""Statements as analysts write them, about one small table: those that are read, and those that are refused and why."""

# ruff: noqa: E501  (a statement is a line)

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd

import rowspace as rs

ZONES = {"Capital": "south", "Harbour": "south", "Midlands": "middle", "North Coast": "north"}

DOMAIN = rs.Domain(
    {
        "age": rs.Numeric(0, 100, bins=100, integer=True),
        "income": rs.Numeric(0, 100_000, bins=20),
        "sex": rs.Categorical(["F", "M"]),
        "region": rs.Categorical(list(ZONES), levels={"zone": ZONES}),
        "native-country": rs.Categorical(["US", "UK", "Peru"]),
        "employed": rs.Categorical([True, False]),
        "children": rs.Categorical([0, 1, 2, 3, 4]),
        "rooms": rs.Numeric(0, 8, bins=8, integer=True),
        "visit": rs.Dates("2024-01-01", "2025-01-01", every="day"),
        "paid": rs.Dates("2024-01-01", "2025-01-01", every="day"),
        "quarter": rs.Dates("2024-01-01", "2025-01-01", every="quarter", column="booked"),
        "arrival": rs.Dates("2024-01-01", "2024-03-01", every="hour"),
        "hour": rs.HourOfDay("departure"),
        "weekday": rs.DayOfWeek("departure"),
        "schooling": rs.Categorical(["low", "high"], other="elsewhere"),
    }
)


def table(rows: int = 4000, *, nulls: bool = False) -> pd.DataFrame:
    """A table of the domain; with NULLs in every column if wanted."""
    rng = np.random.default_rng(12)
    region = rng.choice(list(ZONES), rows, p=[0.4, 0.3, 0.2, 0.1])
    days = pd.Series(pd.to_datetime("2024-01-01") + pd.to_timedelta(rng.integers(0, 366, rows), "D"))
    seconds = rng.integers(0, 60 * 86_400, rows)
    found = pd.DataFrame(
        {
            "age": rng.integers(0, 100, rows),
            "income": rng.uniform(0, 100_000, rows).round(2),
            "sex": rng.choice(["F", "M"], rows, p=[0.55, 0.45]),
            "region": region,
            "zone": [ZONES[name] for name in region],
            "native-country": rng.choice(["US", "UK", "Peru"], rows, p=[0.6, 0.3, 0.1]),
            "employed": rng.random(rows) < 0.6,
            "children": rng.integers(0, 5, rows),
            "rooms": rng.integers(0, 8, rows),
            "visit": [day.date() for day in days],
            "paid": [
                min(day.date() + dt.timedelta(days=int(n)), dt.date(2024, 12, 31))
                for day, n in zip(days, rng.integers(0, 60, rows), strict=True)
            ],
            "booked": [day.date() for day in days],
            "arrival": pd.to_datetime("2024-01-01") + pd.to_timedelta(seconds, "s"),
            "departure": pd.to_datetime("2023-05-01") + pd.to_timedelta(rng.integers(0, 10**8, rows), "s"),
            "schooling": rng.choice(["low", "high", "none"], rows),
        }
    )
    if nulls:
        found = found.astype(object)
        for name in found.columns:
            found.loc[rng.random(rows) < 0.05, name] = None
        found.loc[found["region"].isna(), "zone"] = None
        found["zone"] = found["region"].map(ZONES).astype(object)
        found["booked"] = found["visit"]
    return found


ACCEPTED = """
SELECT COUNT(*) FROM people
SELECT count(*) AS n FROM people -- everybody
/* all of them */ SELECT COUNT(1) FROM people
SELECT COUNT(*) FROM people WHERE age >= 65
SELECT COUNT(*) FROM people WHERE age <= 17
SELECT COUNT(*) FROM people WHERE age BETWEEN 18 AND 64
SELECT COUNT(*) FROM people WHERE age NOT BETWEEN 18 AND 64
SELECT COUNT(*) FROM people WHERE NOT (age < 18 OR sex = 'M')
SELECT COUNT(*) FROM people p WHERE p.age > 30 AND p.sex <> 'F'
SELECT sex, COUNT(*) FROM people GROUP BY sex
SELECT sex, COUNT(*) AS n FROM people GROUP BY sex ORDER BY n DESC
SELECT region, sex, COUNT(*) FROM people WHERE age >= 18 GROUP BY region, sex
SELECT zone, COUNT(*) FROM people GROUP BY zone
SELECT zone, sex, COUNT(*) FROM people WHERE region <> 'Capital' GROUP BY 1, 2
SELECT COUNT(*) FROM people WHERE "native-country" = 'US'
SELECT COUNT(*) FROM people WHERE `native-country` IN ('UK', 'Peru')
SELECT "native-country", COUNT(*) FROM people WHERE employed GROUP BY "native-country"
SELECT COUNT(*) FROM people WHERE "region" = 'North Coast'
SELECT COUNT(*) FROM people WHERE employed AND NOT sex = 'F'
SELECT COUNT(*) FROM people WHERE employed IS TRUE
SELECT COUNT(*) FROM people WHERE employed IS NOT TRUE
SELECT COUNT(*) FROM people WHERE employed IS FALSE OR age < 10
SELECT COUNT(*) FROM people WHERE (age < 18) IS NOT TRUE
SELECT COUNT(*) FROM people WHERE income < 50000
SELECT COUNT(*) FROM people WHERE income >= 25000 AND income < 75000
SELECT FLOOR(age/10)*10 AS decade, COUNT(*) FROM people GROUP BY decade
SELECT FLOOR(age / 10.0) * 10, COUNT(*) FROM people GROUP BY 1
SELECT FLOOR(age/20), sex, COUNT(*) FROM people WHERE region = 'Harbour' GROUP BY 1, 2
SELECT CAST(FLOOR(age/25) AS INTEGER) * 25 AS band, COUNT(*) FROM people GROUP BY band
SELECT 10 * FLOOR(age/10) AS decade, COUNT(*) FROM people WHERE age >= 20 GROUP BY decade
SELECT FLOOR(income/10000)*10000, COUNT(*) FROM people GROUP BY 1
SELECT COUNT(*) FROM people WHERE FLOOR(age/10)*10 = 30
SELECT COUNT(*) FROM people WHERE FLOOR(age/10)*10 >= 25
SELECT COUNT(*) FROM people WHERE FLOOR(age/10)*10 IN (20, 40)
SELECT COUNT(*) FROM people WHERE FLOOR(age/10) BETWEEN 2 AND 4
SELECT COUNT(*) FROM people WHERE FLOOR(age/10) <> 3
SELECT CASE WHEN age < 18 THEN 'child' WHEN age < 65 THEN 'adult' ELSE 'senior' END AS stage, COUNT(*) FROM people GROUP BY stage
SELECT CASE WHEN age < 18 THEN 'child' WHEN age < 65 THEN 'adult' END AS stage, sex, COUNT(*) FROM people GROUP BY 1, 2
SELECT CASE WHEN income < 20000 THEN 'low' WHEN income < 60000 THEN 'middle' ELSE 'high' END, COUNT(*) FROM people GROUP BY 1
SELECT CASE sex WHEN 'F' THEN 'women' ELSE 'men' END AS who, COUNT(*) FROM people GROUP BY who
SELECT CASE WHEN visit < DATE '2024-07-01' THEN 'first' ELSE 'second' END AS half, COUNT(*) FROM people GROUP BY half
SELECT COUNT(*) FILTER (WHERE age < 18) AS young, COUNT(*) FILTER (WHERE age >= 65) AS old FROM people
SELECT sex, SUM(CASE WHEN age < 30 THEN 1 ELSE 0 END) AS young FROM people GROUP BY sex
SELECT COUNT(CASE WHEN employed THEN 1 END) FROM people
SELECT COUNT(CASE WHEN age < 18 THEN NULL ELSE 1 END) FROM people
SELECT COUNT(*) FROM people WHERE visit >= '2024-03-01'
SELECT COUNT(*) FROM people WHERE visit >= DATE '2024-03-01' AND visit < DATE '2024-04-01'
SELECT COUNT(*) FROM people WHERE visit BETWEEN DATE '2024-03-01' AND DATE '2024-03-31'
SELECT COUNT(*) FROM people WHERE visit = DATE '2024-02-29'
SELECT COUNT(*) FROM people WHERE visit <> CAST('2024-02-29' AS DATE) AND sex = 'M'
SELECT COUNT(*) FROM people WHERE visit <= TIMESTAMP '2024-03-31 12:00:00'
SELECT COUNT(*) FROM people WHERE visit IN ('2024-05-01', '2024-12-25')
SELECT COUNT(*) FROM people WHERE DATE '2024-06-30' < visit
SELECT EXTRACT(month FROM visit) AS m, COUNT(*) FROM people GROUP BY m
SELECT EXTRACT(quarter FROM visit), sex, COUNT(*) FROM people GROUP BY 1, 2
SELECT EXTRACT(dow FROM visit), COUNT(*) FROM people GROUP BY 1
SELECT EXTRACT(day FROM visit), COUNT(*) FROM people WHERE EXTRACT(month FROM visit) = 2 GROUP BY 1
SELECT EXTRACT(week FROM visit), COUNT(*) FROM people GROUP BY 1
SELECT COUNT(*) FROM people WHERE EXTRACT(isodow FROM visit) >= 6
SELECT COUNT(*) FROM people WHERE EXTRACT(month FROM visit) IN (6, 7, 8)
SELECT COUNT(*) FROM people WHERE YEAR(visit) = 2024 AND MONTH(visit) <= 3
SELECT COUNT(*) FROM people WHERE date_part('doy', visit) BETWEEN 100 AND 200
SELECT DATE_TRUNC('month', visit) AS month, COUNT(*) FROM people GROUP BY month ORDER BY month
SELECT DATE_TRUNC('quarter', visit), region, COUNT(*) FROM people GROUP BY 1, 2
SELECT DATE_TRUNC('week', visit), COUNT(*) FROM people WHERE age < 50 GROUP BY 1
SELECT DATE_TRUNC('year', visit), COUNT(*) FROM people GROUP BY 1
SELECT COUNT(*) FROM people WHERE DATE_TRUNC('month', visit) = DATE '2024-03-01'
SELECT COUNT(*) FROM people WHERE DATE_TRUNC('month', visit) > DATE '2024-03-15'
SELECT COUNT(*) FROM people WHERE DATE_TRUNC('quarter', visit) <= DATE '2024-04-01'
SELECT EXTRACT(quarter FROM booked), COUNT(*) FROM people GROUP BY 1
SELECT COUNT(*) FROM people WHERE booked < DATE '2024-07-01'
SELECT EXTRACT(hour FROM departure), COUNT(*) FROM people GROUP BY 1
SELECT EXTRACT(dow FROM departure), COUNT(*) FROM people GROUP BY 1
SELECT COUNT(*) FROM people WHERE EXTRACT(dow FROM departure) IN (0, 6)
SELECT COUNT(*) FROM people WHERE EXTRACT(hour FROM departure) BETWEEN 7 AND 9 AND EXTRACT(isodow FROM departure) <> 7
SELECT COUNT(*) FROM people WHERE arrival >= TIMESTAMP '2024-01-15 08:00:00' AND arrival < TIMESTAMP '2024-01-16 08:00:00'
SELECT EXTRACT(hour FROM arrival), COUNT(*) FROM people GROUP BY 1
SELECT DATE_TRUNC('day', arrival), COUNT(*) FROM people GROUP BY 1
SELECT CAST(arrival AS DATE) AS day, COUNT(*) FROM people GROUP BY day
SELECT COUNT(*) FROM people WHERE arrival::date = DATE '2024-02-10'
SELECT COUNT(*) FROM people WHERE region LIKE 'H%'
SELECT COUNT(*) FROM people WHERE region NOT LIKE '%d%'
SELECT COUNT(*) FROM people WHERE region ILIKE 'NORTH%' OR region LIKE '_apital'
SELECT COUNT(*) FROM people WHERE children <= rooms
SELECT COUNT(*) FROM people WHERE children + rooms <= 5
SELECT COUNT(*) FROM people WHERE rooms - children > 2 AND sex = 'F'
SELECT COUNT(*) FROM people WHERE children = rooms
SELECT COUNT(*) FROM people WHERE NOT children < rooms
SELECT COUNT(*) FROM people WHERE visit = paid
SELECT COUNT(*) FROM people WHERE paid - visit > 30
WITH adults AS (SELECT * FROM people WHERE age >= 18) SELECT sex, COUNT(*) FROM adults GROUP BY sex
WITH a AS (SELECT * FROM people WHERE age >= 18), b AS (SELECT * FROM a WHERE employed) SELECT COUNT(*) FROM b WHERE sex = 'F'
WITH people2 AS (SELECT age, sex FROM people WHERE region = 'Harbour') SELECT sex, COUNT(*) FROM people2 WHERE age < 40 GROUP BY sex
SELECT region, COUNT(*) FROM (SELECT * FROM people WHERE visit >= DATE '2024-07-01') AS late GROUP BY region
SELECT COUNT(*) FROM (SELECT x.* FROM people x WHERE x.sex = 'M') y WHERE y.age < 30
SELECT sex, region, COUNT(*) FROM people GROUP BY CUBE (sex, region)
SELECT sex, region, COUNT(*) FROM people GROUP BY ROLLUP (sex, region)
SELECT COUNT(*) FROM people WHERE age IS NOT NULL
SELECT COUNT(*) FROM people WHERE sex IS NOT NULL AND age < 18
""".strip().splitlines()

#: About NULLs: read where a domain has a place for them.
ABOUT_NULL = """
SELECT COUNT(*) FROM people WHERE age IS NULL
SELECT COUNT(*) FROM people WHERE age IS NULL OR sex = 'F'
SELECT COUNT(*) FROM people WHERE visit IS NULL AND region IS NOT NULL
SELECT COUNT(*) FROM people WHERE NOT (age IS NULL)
SELECT sex, COUNT(*) FROM people WHERE income IS NULL GROUP BY sex
SELECT COUNT(age) FROM people
SELECT region, COUNT(age) FROM people GROUP BY region
SELECT CASE WHEN age IS NULL THEN 'unknown' WHEN age < 18 THEN 'child' ELSE 'adult' END, COUNT(*) FROM people GROUP BY 1
""".strip().splitlines()

REFUSED = [
    ("SELECT COUNT(*) FROM people WHERE income <= 50000", "does not fall on a bin edge.*compare with < or >=, at 50000"),
    ("SELECT COUNT(*) FROM people WHERE income < 52000", "nearest edges are 50000 and 55000"),
    ("SELECT COUNT(*) FROM people WHERE income = 50000", "may hold any number"),
    ("SELECT COUNT(DISTINCT region) FROM people", "COUNT\\(DISTINCT.*GROUP BY the column"),
    ("SELECT DISTINCT region FROM people", "leave DISTINCT out"),
    ("SELECT region, COUNT(*) FROM people GROUP BY region HAVING COUNT(*) > 10", "HAVING.*filter the released answers"),
    ("SELECT region, AVG(age) FROM people GROUP BY region", "AVG is not a count of records; only COUNT"),
    ("SELECT SUM(income) FROM people", "SUM adds up declared measures"),
    ("SELECT * FROM people", "records are never shown; write SELECT COUNT"),
    ("SELECT COUNT(*) FROM people LIMIT 5", "LIMIT.*leave it out"),
    ("SELECT COUNT(*) FROM people JOIN visits ON people.id = visits.id", "join before counting"),
    ("SELECT COUNT(*) FROM people WHERE native-country = 'US'", 'write `native-country` or "native-country"'),
    ("SELECT native-country, COUNT(*) FROM people GROUP BY native-country", "write `native-country`"),
    ("SELECT COUNT(*) FROM people WHERE visit = DATE '2024-02-30'", "'2024-02-30' does not exist"),
    ("SELECT COUNT(*) FROM people WHERE visit BETWEEN '2024-13-01' AND '2024-12-31'", "'2024-13-01' does not exist"),
    ("SELECT COUNT(*) FROM people WHERE visit = '2024-03'", "written in full, as in DATE '2024-03-01'"),
    ("SELECT COUNT(*) FROM people WHERE visit > 20240301", "holds dates; compare it with one such as"),
    ("SELECT COUNT(*) FROM people WHERE visit >= CURRENT_DATE", "write the date itself"),
    ("SELECT COUNT(*) FROM people WHERE visit < DATE '2024-01-01' + INTERVAL '1 month'", "write the date itself"),
    ("SELECT COUNT(*) FROM people WHERE booked < DATE '2024-05-01'", "nearest edges are 2024-04-01 and 2024-07-01"),
    ("SELECT EXTRACT(month FROM booked), COUNT(*) FROM people GROUP BY 1", "several groups.*declare finer cells"),
    ("SELECT DATE_TRUNC('week', booked), COUNT(*) FROM people GROUP BY 1", "several groups.*declare finer cells"),
    ("SELECT COUNT(*) FROM people WHERE EXTRACT(month FROM booked) = 2", "too long to decide.*declare finer cells"),
    ("SELECT EXTRACT(epoch FROM visit), COUNT(*) FROM people GROUP BY 1", "EPOCH of a date is not read; expected one of"),
    ("SELECT DATE_TRUNC('decade', visit), COUNT(*) FROM people GROUP BY 1", "expected one of year, quarter"),
    ("SELECT COUNT(*) FROM people WHERE EXTRACT(year FROM age) = 3", "no attribute of dates; declare one"),
    ("SELECT COUNT(*) FROM people WHERE arrival <= TIMESTAMP '2024-01-15 08:00:00'", "holds times.*compare with < or >="),
    ("SELECT FLOOR(income/7000), COUNT(*) FROM people GROUP BY 1", "several groups.*group by the column itself"),
    ("SELECT COUNT(*) FROM people WHERE FLOOR(income/10000) = 2.5", "between two steps"),
    ("SELECT FLOOR(region/10), COUNT(*) FROM people GROUP BY 1", "does not hold numbers"),
    ("SELECT ROUND(age, -1), COUNT(*) FROM people GROUP BY 1", "cannot be a group: expected a column"),
    ("SELECT UPPER(region), COUNT(*) FROM people GROUP BY 1", "cannot be a group: expected a column"),
    ("SELECT COUNT(*) FROM people WHERE LOWER(region) = 'capital'", "not evaluated; compare the column itself"),
    ("SELECT COUNT(*) FROM people WHERE schooling LIKE 'l%'", "not listed, so a pattern is not decided; write IN"),
    ("SELECT COUNT(*) FROM people WHERE region LIKE 'a!%' ESCAPE '!'", "list the categories with IN"),
    ("SELECT COUNT(*) FROM people WHERE schooling IS NULL", "share the bucket 'elsewhere'.*compare with it instead"),
    ("SELECT COUNT(*) FROM people WHERE region = 'capital'", "did you mean 'Capital'"),
    ("SELECT COUNT(*) FROM people WHERE gender = 'F'", "unknown attribute 'gender'"),
    ("SELECT COUNT(*) FROM people WHERE income < age", "cells of income do not decide.*integer = true"),
    ("SELECT COUNT(*) FROM people WHERE age < region", "compares numbers with text"),
    ("SELECT COUNT(*) FROM people WHERE visit + paid > 3", "not added"),
    ("SELECT COUNT(*) FROM people WHERE sex < region", "text has no order.*compare the two with = or !="),
    ("SELECT COUNT(*) FROM people WHERE rooms * children > 3", "not evaluated; compare the column itself"),
    ("SELECT COUNT(*) FROM people WHERE age = (SELECT MAX(age) FROM people)", "a subquery is not a condition on one record"),
    ("SELECT COUNT(*) FROM (SELECT region FROM people GROUP BY region) x", "may only filter the declared table"),
    ("SELECT COUNT(*) FROM (SELECT age + 1 AS older FROM people) x", "write it outside"),
    ("SELECT COUNT(*) FROM (SELECT age FROM people) x WHERE sex = 'F'", "does not select 'sex'; select it there"),
    ("WITH RECURSIVE a AS (SELECT * FROM people) SELECT COUNT(*) FROM a", "WITH RECURSIVE is not read"),
    ("WITH a AS (SELECT * FROM people LIMIT 3) SELECT COUNT(*) FROM a", "LIMIT in a subquery.*may only filter"),
    ("SELECT COUNT(*) FROM people UNION SELECT COUNT(*) FROM people", "write one statement for each SELECT"),
    ("DELETE FROM people", "expected a SELECT that counts"),
    ("SELECT COUNT(*) / 2 FROM people", "arithmetic on counts.*select each count by itself"),
    ("SELECT ROW_NUMBER() OVER (ORDER BY age) FROM people", "window"),
]  # fmt: skip
