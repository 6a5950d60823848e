"""SQL clients at the door: the numbers, prices and refusals of HTTP, through psycopg, SQLAlchemy and pandas."""

from __future__ import annotations

import re
from collections.abc import Iterator
from threading import Timer
from typing import Any

import pandas as pd
import pytest
import sqlalchemy as sa
from starlette.testclient import TestClient

from rowspace.serve.tokens import revoke
from rowspace.serve.wire import catalogue, door

from .conftest import ROWS, Place, bearer, laid_out, running, wait

psycopg = pytest.importorskip("psycopg")

EXACT = "/* within 0.4, level 0.999999 */"
"""So little noise that rounding gives the count."""


@pytest.fixture
def client(place: Place) -> Iterator[TestClient]:
    with running(place.settings(psql_port=0)) as found:
        yield wait(found)


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Place, TestClient]]:
    """One service for all statements that are refused: nothing is charged there."""
    place = laid_out(tmp_path_factory.mktemp("quiet"))
    with running(place.settings(psql_port=0)) as found:
        yield place, wait(found)


def port(client: TestClient) -> int:
    return int(client.app.state.door.port)  # type: ignore[attr-defined]


def connect(client: TestClient, token: str, **more: Any) -> Any:
    options = {"host": "127.0.0.1", "port": port(client), "user": "x", "dbname": "small", "autocommit": True}
    return psycopg.connect(password=token, **(options | more))


FRAME = pd.DataFrame(ROWS, columns=["age", "sex"])


def counts(frame: pd.DataFrame, by: list[str]) -> set[tuple[Any, ...]]:
    return {(*key, n) for key, n in frame.groupby(by).size().items()}


@pytest.mark.parametrize("binary", [False, True])
def test_counts_are_pandas_counts_in_the_columns_selected(
    place: Place, client: TestClient, binary: bool
) -> None:
    with connect(client, place.ann) as connection:

        def ask(sql: str) -> set[tuple[Any, ...]]:
            rows = connection.execute(f"{sql} {EXACT}", binary=binary).fetchall()
            return {tuple(round(v) if isinstance(v, float) else v for v in row) for row in rows}

        both = counts(FRAME, ["age", "sex"])
        assert ask("SELECT age, sex, count(*) FROM t GROUP BY age, sex") == both
        assert ask("SELECT sex, age, count(*) FROM t GROUP BY age, sex") == {(s, a, n) for a, s, n in both}
        assert ask("SELECT count(*), age FROM t WHERE sex = 'F' GROUP BY age") == {
            (n, a) for a, s, n in both if s == "F"
        }
        young = FRAME.assign(k=FRAME.age.lt(2).map({True: "young", False: "old"}))
        sql = "SELECT CASE WHEN age < 2 THEN 'young' ELSE 'old' END k, sex, count(*) FROM t GROUP BY k, sex"
        assert ask(sql) == counts(young, ["k", "sex"])
        assert ask("SELECT sex, count(*), count(*) FILTER (WHERE sex = 'F') FROM t GROUP BY sex") == {
            ("F", 100, 100),
            ("M", 120, 0),
        }
        rolled = ask("SELECT sex, count(*) FROM t GROUP BY ROLLUP (sex)")
        assert rolled == {("F", 100), ("M", 120), (None, 220)}


def test_rows_are_ordered_and_cut_after_they_are_answered(place: Place, client: TestClient) -> None:
    with connect(client, place.ann) as connection:
        sql = f"SELECT age, count(*) AS n FROM t GROUP BY age ORDER BY n DESC LIMIT 2 OFFSET 1 {EXACT}"
        assert [row[0] for row in connection.execute(sql).fetchall()] == [2, 1]
        assert [
            row[0]
            for row in connection.execute(f"SELECT age, count(*) FROM t GROUP BY 1 ORDER BY 1 DESC {EXACT}")
        ] == [3, 2, 1, 0]
        with pytest.raises(psycopg.errors.SyntaxError, match="not selected"):
            connection.execute(f"SELECT count(*) FROM t ORDER BY sex {EXACT}")


def test_the_answers_of_http(place: Place, client: TestClient) -> None:
    body = {"question": "SELECT sex, COUNT(*) FROM small GROUP BY sex", "within": 20}
    bought = client.post("/v1/ask", json=body, headers=bearer(place.bob)).json()
    with connect(client, place.ann) as connection:
        connection.execute("SET rowspace.intervals = on")
        rows = connection.execute(body["question"]).fetchall()
    expected = [(row["query"][-1], row["answer"], row["low"], row["high"]) for row in bought["answers"]]
    assert rows == expected
    assert place.ledger.budget().charges == 1


def test_nothing_is_paid_unless_an_accuracy_is_given(place: Place, client: TestClient) -> None:
    sql = "SELECT count(*) FROM small WHERE age < 2"
    heard: list[str] = []
    with connect(client, place.bob) as connection:
        connection.add_notice_handler(lambda notice: heard.append(notice.message_primary))
        with pytest.raises(psycopg.Error) as refused:
            connection.execute(sql)
        assert refused.value.sqlstate == "55000"
        assert re.search(
            r"within = 100.*costs [0-9.e-]+ of the 0\.5 rho left", refused.value.diag.message_hint
        )
        with pytest.raises(psycopg.Error, match="accuracy"):
            connection.execute(f"EXPLAIN {sql}")
        assert place.ledger.budget().charges == 0
        connection.execute("SET rowspace.within = 10")
        costs, left = connection.execute(f"EXPLAIN {sql}").fetchall()
        assert place.ledger.budget().charges == 0
        assert len(connection.execute(sql).fetchall()) == 1
        assert costs[0].split()[1] in heard[-1]
        assert "left for you: 0.5 rho" in left[0]
        assert connection.execute("SHOW rowspace.left").fetchone()[0] in heard[-1]
        assert "free" in connection.execute(f"EXPLAIN {sql}").fetchone()[0]
        connection.execute("SET rowspace.most = 0.001")
        with pytest.raises(psycopg.errors.ConfigurationLimitExceeded, match="agreed"):
            connection.execute("SELECT count(*) FROM small WHERE age < 1 /* within 5 */")
        connection.execute("RESET rowspace.most")
        with pytest.raises(psycopg.errors.ConfigurationLimitExceeded, match="best that can be had"):
            connection.execute("SELECT count(*) FROM small /* within 1.5 */")
    assert place.ledger.budget().charges == 1


def test_a_key_is_one_question_and_pays_once(place: Place, client: TestClient) -> None:
    sql = "SELECT count(*) FROM small WHERE age < 2 /* within 10 */"
    found = []
    for _ in range(2):
        with connect(client, place.ann) as connection:
            connection.execute("SET rowspace.request = 'k1'")
            found.append(connection.execute(sql).fetchall())
            assert connection.execute("SHOW rowspace.request").fetchone() == ("",)
    assert found[0] == found[1]
    with connect(client, place.ann) as connection:
        connection.execute("SET rowspace.request = 'k1'")
        with pytest.raises(psycopg.errors.InvalidParameterValue, match=r"rowspace\.request was used"):
            connection.execute("SELECT count(*) FROM small /* within 10 */")
    assert place.ledger.budget().charges == 1


def test_parameters_are_literals_and_nothing_more(place: Place, client: TestClient) -> None:
    with connect(client, place.ann) as connection:

        def ask(condition: str, *values: Any) -> int:
            sql = f"SELECT count(*) FROM small WHERE {condition} {EXACT}"
            return round(connection.execute(sql, values).fetchone()[0])

        assert ask("age >= %s AND sex = %s", 2, "F") == 70
        assert ask("age >= %s", 2.0) == ask("age >= %s", "2") == ask("age >= %b", 2) == 150
        assert ask("age IN (%s, %s)", 0, 3) == 110
        assert ask("sex = %s::varchar", "F") == 100
        before = place.ledger.budget().charges
        for hostile in (
            "F' OR '1'='1",
            "F /* within 0.1 */",
            "'; DROP TABLE small; --",
            "$1",
            "F\\' OR TRUE --",
        ):
            with pytest.raises(psycopg.Error) as refused:
                ask("sex = %s", hostile)
            assert refused.value.sqlstate == "42601"
        for wrong in ("x", "1; 2", "nan", None):
            with pytest.raises(psycopg.Error):
                ask("age >= %s", wrong)
        assert place.ledger.budget().charges == before


def test_settings_go_back_with_their_transaction(place: Place, client: TestClient) -> None:
    with connect(client, place.ann, autocommit=False, options="-c rowspace.level=0.9") as connection:

        def shown(name: str) -> str:
            return str(connection.execute(f"SHOW {name}").fetchone()[0])

        assert shown("rowspace.level") == "0.9"
        connection.execute("SET rowspace.within = 50")
        connection.rollback()
        assert shown("rowspace.within") == ""
        connection.execute("SET LOCAL rowspace.within = 50")
        connection.execute("SET application_name TO 'bi'")
        connection.commit()
        assert (shown("rowspace.within"), shown("application_name")) == ("", "bi")
        with pytest.raises(psycopg.errors.InvalidParameterValue):
            connection.execute("SET rowspace.level = 2")
        with pytest.raises(psycopg.errors.InFailedSqlTransaction):
            connection.execute("SELECT 1")
        connection.rollback()
        connection.execute("SET rowspace.level = 0.5")
        connection.commit()
        connection.execute("DISCARD ALL")
        assert shown("rowspace.level") == "0.9"


@pytest.mark.parametrize(
    ("sql", "state", "word"),
    [
        ("SELECT * FROM small", "42601", "records are never shown"),
        ("SELECT count(*) FROM small WHERE agee < 2", "42601", "did you mean 'age'"),
        ("SELECT cont(", "42601", ""),
        ("SELECT count(*) FROM small HAVING count(*) > 3", "42601", "HAVING"),
        ("SELECT count(*) FROM a JOIN b USING (x)", "42601", "join"),
        ("INSERT INTO small VALUES (1)", "25006", "only counts"),
        ("DROP TABLE small", "25006", "only counts"),
        ("nonsense", "42601", "SELECT"),
        ("SET rowspace.within = -1", "22023", "above 0"),
        ("SET rowspace.nothing = 1", "22023", "rowspace.within"),
        ("SET client_encoding = 'LATIN1'", "22023", "UTF8"),
        ("SHOW nothing", "42704", ""),
        ("SELECT count(*) FROM small WHERE " + "(" * 60 + "age < 2" + ")" * 60, "42601", "deep"),
        ("SELECT count(*) FROM small WHERE age IN (" + "1," * 6000 + "1)", "54000", "10,000"),
    ],
)
def test_statements_that_cannot_be(quiet: tuple[Place, TestClient], sql: str, state: str, word: str) -> None:
    place, client = quiet
    with connect(client, place.ann) as connection:
        connection.execute("SET rowspace.within = 20")
        with pytest.raises(psycopg.Error) as refused:
            connection.execute(sql)
        assert refused.value.sqlstate == state
        assert word in refused.value.diag.message_primary
        assert "\n" not in refused.value.diag.message_primary
        assert connection.execute("SELECT 1").fetchone() == (1,)
    assert place.ledger.budget().charges == 0


def test_tokens_roles_and_rates(place: Place, client: TestClient) -> None:
    for wrong in ("guess", ""):
        with pytest.raises(psycopg.OperationalError, match=r"token|password"):
            connect(client, wrong)
    with connect(client, place.sam) as connection:
        assert "rho" in connection.execute("SHOW rowspace.left").fetchone()[0]
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="steward"):
            connection.execute("SELECT count(*) FROM small /* within 20 */")
    with connect(client, place.bob) as connection:
        revoke(place.folder / "tokens.toml", "bob")
        with pytest.raises(psycopg.Error, match="token"):
            connection.execute("SELECT 1")
        assert connection.closed
    assert place.ledger.budget().charges == 0
    with running(place.settings(psql_port=0, rate=2.0)) as slow, connect(wait(slow), place.ann) as connection:
        for _ in range(4):
            connection.execute("SELECT 1")
        with pytest.raises(psycopg.Error) as refused:
            connection.execute("SELECT 1")
        assert refused.value.sqlstate == "53000"


def test_sqlalchemy_pandas_and_what_they_ask_of_the_catalogue(place: Place, client: TestClient) -> None:
    engine = sa.create_engine(f"postgresql+psycopg://ann:{place.ann}@127.0.0.1:{port(client)}/small")
    sql = f"SELECT age, sex, count(*) AS n FROM small GROUP BY age, sex {EXACT}"
    found = pd.read_sql(sql, engine)
    assert {(r.age, r.sex, round(r.n)) for r in found.itertuples()} == counts(FRAME, ["age", "sex"])
    schema = sa.inspect(engine)
    assert schema.get_table_names() == ["small"]
    assert [(one["name"], str(one["type"])) for one in schema.get_columns("small")] == [
        ("age", "BIGINT"),
        ("sex", "TEXT"),
    ]
    table = sa.Table("small", sa.MetaData(), autoload_with=engine)
    with engine.connect() as connection:
        counted = sa.select(table.c.sex, sa.func.count().label("n")).where(table.c.age >= 2)
        rows = connection.execute(counted.group_by(table.c.sex).order_by(table.c.sex).limit(9)).fetchall()
        assert [(sex, round(n)) for sex, n in rows] == [("F", 70), ("M", 80)]
        assert connection.scalar(sa.text("SELECT current_schema()")) == "public"
    engine.dispose()
    assert place.ledger.budget().charges == 1


def test_what_the_catalogue_cannot_say_is_empty(
    place: Place, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue, "_SECONDS", 0.3)
    with connect(client, place.ann) as connection:
        for sql in (
            "SELECT x, y FROM pg_catalog.pg_unknown",
            "SELECT * FROM read_csv('/etc/passwd')",
            "SELECT repeat('x', 1000000000)",
            "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT * FROM r",
        ):
            assert connection.execute(sql).fetchall() == []
        many = ", ".join(f"pg_catalog.pg_type t{n}" for n in range(12))
        assert connection.execute(f"SELECT count(*) FROM {many}").fetchall() in ([], [(9**12,)])
        names = connection.execute("SELECT column_name FROM information_schema.columns ORDER BY 1").fetchall()
        assert names == [("age",), ("sex",)]


def test_logs_and_figures_hold_no_question(
    place: Place, client: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("INFO", "rowspace.serve"), connect(client, place.ann) as connection:
        connection.execute("SELECT count(*) FROM small WHERE sex = 'F' /* within 20 */")
    (line,) = [
        one.fields for one in caplog.records if getattr(one, "fields", {}).get("route") == "psql:select"
    ]  # type: ignore[attr-defined]
    assert line["who"] == "ann"
    assert line["status"] == "00000"
    assert set(line) == {"method", "route", "status", "ms", "who"}
    shown = client.get("/metrics").text
    assert 'route="psql:select"' in shown
    assert "'F'" not in shown


def test_a_question_waits_for_the_plan(place: Place, client: TestClient) -> None:
    desk = client.app.state.desk  # type: ignore[attr-defined]
    desk.is_ready = False
    with connect(client, place.ann) as connection:
        Timer(0.3, lambda: setattr(desk, "is_ready", True)).start()
        assert round(connection.execute(f"SELECT count(*) FROM t {EXACT}").fetchone()[0]) == len(FRAME)
        desk.is_ready, desk.has_failed = False, True
        with pytest.raises(psycopg.Error, match="could not plan"):
            connection.execute(f"SELECT count(*) FROM t WHERE sex = 'F' {EXACT}")


def test_too_many_connections(place: Place, client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "MOST_CONNECTIONS", 1)
    with connect(client, place.ann) as connection:
        connection.execute("SELECT 1")
        with pytest.raises(psycopg.OperationalError, match="come later"):
            connect(client, place.ann)


def test_a_stop_ends_idle_connections(place: Place) -> None:
    with running(place.settings(psql_port=0)) as client:
        connection = connect(wait(client), place.ann)
        connection.execute("SELECT 1")
    with pytest.raises(psycopg.OperationalError):
        connection.execute("SELECT 1")
