"""Nothing about the data leaves by an error, a warning, a log or the terminal."""

from __future__ import annotations

import logging
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from rowspace.domain import Categorical, Domain, Numeric
from rowspace.exceptions import RowspaceError, SourceError
from rowspace.sources import count_cells
from rowspace.sources.silence import attempt

MARK = "SECRET123"
DOMAIN = Domain(x=Numeric(0, 10, bins=5), y=Categorical(["a"]))


def everything_said_by(error: BaseException) -> str:
    """The error with all it carries: its formatted chain, and causes that formatting would hide."""
    said = "".join(traceback.format_exception(error))
    chain: list[BaseException | None] = [error]
    while chain:
        link = chain.pop()
        if link is not None:
            said += repr(link) + repr(link.args) + repr(getattr(link, "__notes__", []))
            chain += [link.__cause__, link.__context__]
    return said


def text_in_csv(folder: Path) -> Any:
    (folder / "rows.csv").write_text(f"x,y\n{MARK},a\n")
    return folder / "rows.csv"


def no_header(folder: Path) -> Any:
    (folder / "rows.csv").write_text(f"{MARK},1\nb,2\n")
    return folder / "rows.csv"


def ragged_csv(folder: Path) -> Any:
    (folder / "rows.csv").write_text(f"x,y\n1,a\n{MARK}\n{MARK},a,{MARK}\n")
    return folder / "rows.csv"


def broken_quotes(folder: Path) -> Any:
    (folder / "rows.csv").write_text(f'x,y\n"1"{MARK}"a"\n')
    return folder / "rows.csv"


def damaged_parquet(folder: Path) -> Any:
    (folder / "rows.parquet").write_text(f"PAR1{MARK}PAR1")
    return folder / "rows.parquet"


def failing_polars_query(folder: Path) -> Any:
    return pl.LazyFrame({"x": [MARK], "y": ["a"]}).with_columns(pl.col("x").cast(pl.Float64))


def failing_ibis_query(folder: Path) -> Any:
    rows = ibis.memtable(pa.table({"x": [MARK], "y": ["a"]}))
    return rows.mutate(x=rows.x.cast("float64"))


def mixed_pandas(folder: Path) -> Any:
    return pd.DataFrame({"x": pd.Series([1, MARK], dtype=object), "y": ["a", "a"]})


def text_in_pandas(folder: Path) -> Any:
    return pd.DataFrame({"x": [MARK], "y": ["a"]})


def objects_in_polars(folder: Path) -> Any:
    return pl.DataFrame({"x": pl.Series([MARK, object()], dtype=pl.Object), "y": ["a", "a"]})


def first_record_as_names(folder: Path) -> Any:
    (folder / "rows.csv").write_text(f"{MARK},xx\nb,2\n")
    return pd.read_csv(folder / "rows.csv")


def first_record_as_polars_names(folder: Path) -> Any:
    return pl.DataFrame({MARK: [1], "2": [2]})


def first_record_as_arrow_names(folder: Path) -> Any:
    return pa.table({MARK: [1], "2": [2]})


def several_names_each(folder: Path) -> Any:
    return pd.DataFrame([[1, "a"]], columns=pd.MultiIndex.from_tuples([("x", MARK), ("y", MARK)]))


def failing_view(folder: Path) -> Any:
    with duckdb.connect(str(folder / "rows.duckdb")) as connection:
        connection.execute(f"CREATE TABLE kept AS SELECT '{MARK}' AS t, 'a' AS y")
        connection.execute("CREATE VIEW people AS SELECT CAST(t AS DOUBLE) AS x, y FROM kept")
    return folder / "rows.duckdb"


def password_in_url(folder: Path) -> Any:
    return f"postgres://someone:{MARK}@127.0.0.1:1/register"


def strings_as_counts(folder: Path) -> Any:
    return [MARK, "1", "2", "3", "4"]


def ragged_counts(folder: Path) -> Any:
    return [[1, MARK], [2]]


@pytest.mark.parametrize(
    "build",
    [
        text_in_csv,
        no_header,
        ragged_csv,
        broken_quotes,
        damaged_parquet,
        failing_polars_query,
        failing_ibis_query,
        mixed_pandas,
        text_in_pandas,
        objects_in_polars,
        first_record_as_names,
        first_record_as_polars_names,
        first_record_as_arrow_names,
        several_names_each,
        failing_view,
        password_in_url,
        strings_as_counts,
        ragged_counts,
    ],
    ids=lambda build: build.__name__,
)
def test_no_error_quotes_data(
    build: Callable[[Path], Any],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    source = build(tmp_path)
    table = "people" if build in (failing_view, password_in_url) else None
    with pytest.raises(RowspaceError) as failure:
        count_cells(source, DOMAIN, table=table)
    assert MARK not in everything_said_by(failure.value)
    assert failure.value.__cause__ is None
    assert failure.value.__context__ is None
    assert MARK not in "".join([*capfd.readouterr(), caplog.text])


def test_counting_prints_logs_and_warns_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    (tmp_path / "rows.csv").write_text(f"x,y\n1,a\n99,a\n,a\n1,{MARK}\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        count_cells(tmp_path / "rows.csv", DOMAIN)
    assert "".join([*capfd.readouterr(), caplog.text]) == ""
    assert [file.name for file in tmp_path.iterdir()] == ["rows.csv"]


class PanicException(BaseException):
    """No Exception: PyO3 lets panics through handlers of those."""


@pytest.mark.parametrize("kind", [type("StrangeError", (Exception,), {}), PanicException])
def test_attempt_keeps_nothing_of_the_failure(kind: type[BaseException]) -> None:
    def fail() -> None:
        raise kind(MARK) from ValueError(MARK)

    with pytest.raises(SourceError) as failure:
        attempt(fail, "it failed")
    assert str(failure.value) == "it failed"
    assert MARK not in everything_said_by(failure.value)


def test_attempt_silences_warnings() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert attempt(lambda: warnings.warn(MARK, stacklevel=1), "it failed") is None


@pytest.mark.parametrize("command", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_attempt_lets_an_interrupt_through(command: type[BaseException]) -> None:
    def interrupt() -> None:
        raise command

    with pytest.raises(command):
        attempt(interrupt, "it failed")


class ServerError(Exception):
    def __init__(self, sqlstate: object) -> None:
        super().__init__(MARK)
        self.sqlstate = sqlstate


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("42501", "may not read"),
        ("57P01", "ended the connection"),
        ("08006", "connection was lost"),
        ("57014", "cancelled"),
        (MARK, "failed$"),
        (None, "failed$"),
    ],
)
def test_codes_of_servers_become_words(code: object, words: str) -> None:
    def fail() -> None:
        raise ServerError(code)

    with pytest.raises(SourceError, match=words) as caught:
        attempt(fail, "it failed")
    assert MARK not in everything_said_by(caught.value)
