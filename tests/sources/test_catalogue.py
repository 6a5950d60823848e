"""Every kind of source that rowspace reads is walked by a suite; a new one that is not listed here fails."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import ForwardRef, get_args, get_origin

import duckdb
import pytest

from rowspace.domain import Categorical, Domain, Numeric
from rowspace.formats import CSV_ENDINGS, DATABASE_ENDINGS, PARQUET_ENDINGS, REMOTE_SCHEMES
from rowspace.sources import count_cells
from rowspace.sources.databases import POSTGRES_SCHEMES, SPARK_SCHEMES
from rowspace.sources.opening import Source

from . import kinds, oracle

ROWS: oracle.Rows = {"age": [1, 3, 3, None, 9], "sex": ["F", "M", "F", "F", None]}
DOMAIN = Domain(age=Numeric(0, 10, bins=5), sex=Categorical(["F", "M"], other="else"))
ENDINGS = (*CSV_ENDINGS, *PARQUET_ENDINGS, *DATABASE_ENDINGS)

# What a source may be, and where the laws of counting are tested for it: a kind of `kinds.KINDS`, or a file of tests.
TYPES = {
    "str": "csv",
    "Path": "parquet",
    "pd.DataFrame": "pandas",
    "pl.DataFrame": "polars",
    "pl.LazyFrame": "polars lazy",
    "pa.Table": "arrow",
    "ir.Table": "ibis query",
    "ndarray": "sources/test_vectors.py",
    "list": "sources/test_vectors.py",
    "tuple": "sources/test_vectors.py",
}
SCHEMES = {
    "duckdb": "duckdb url",
    "sqlite": "sqlite url",
    **dict.fromkeys(("postgres", "postgresql"), "engines/test_counts.py"),
    **dict.fromkeys(("spark", "sc", "pyspark"), "engines/test_counts.py"),
    **dict.fromkeys(("s3", "s3a", "gs", "gcs", "https", "http"), "sources/test_files.py"),
}


def test_every_type_and_every_scheme_is_here() -> None:
    known = {
        kind.__forward_arg__ if isinstance(kind, ForwardRef) else (get_origin(kind) or kind).__name__
        for kind in get_args(Source)
    }
    assert known == set(TYPES)
    schemes = {*DATABASE_ENDINGS.values(), *POSTGRES_SCHEMES, *SPARK_SCHEMES, *REMOTE_SCHEMES}
    assert schemes == set(SCHEMES)
    tests = Path(__file__).parent.parent
    for walked in (*TYPES.values(), *SCHEMES.values()):
        assert walked in kinds.KINDS or (tests / walked).is_file(), walked


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_ending_is_counted_alike(ending: str, tmp_path: Path) -> None:
    """A file is what its ending says; an ending that nothing can write here fails."""
    file, table = tmp_path / f"rows{ending}", None
    if ending in CSV_ENDINGS:
        kinds.write_csv(ROWS, file, delimiter="\t" if ending.startswith(".tsv") else ",")
    elif ending in PARQUET_ENDINGS:
        shutil.move(kinds.from_parquet(ROWS, tmp_path)[0], file)
    elif DATABASE_ENDINGS[ending] == "duckdb":
        table = "people"
        with duckdb.connect(str(file)) as connection:
            connection.register("incoming", kinds.arrow(ROWS))
            connection.execute("CREATE TABLE people AS SELECT * FROM incoming")
    else:
        url, table = kinds.from_sqlite_url(ROWS, tmp_path)
        shutil.move(url.removeprefix("sqlite://"), file)
    assert count_cells(file, DOMAIN, table=table).tolist() == oracle.counts(ROWS, DOMAIN).tolist()
