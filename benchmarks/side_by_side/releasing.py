"""Releasing: from a file of records to a table of answers with error bars."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import rowspace as rs
from rowspace.cli import main

from ..harness import Case, Contender, Work
from ..records import FOLDER, OURS
from .counting import BINCOUNT, RECORDS, VALUES, columns

NAMES = tuple(f"a{i}" for i in range(5))
TABLES = [chosen for k in range(3) for chosen in combinations(NAMES, k)]


def records(size: int) -> Path:
    """Generated records in a file, made once."""
    path = FOLDER / "data" / f"records-{size}.parquet"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        random = np.random.default_rng(1)
        pq.write_table(pa.table({name: random.integers(0, VALUES, size) for name in NAMES}), path)
    return path


def group_bys(path: Path) -> list[np.ndarray]:
    """The ten tables of two in plain SQL; smaller ones are sums of them."""
    tables = []
    with duckdb.connect() as connection:
        for one, other in combinations(NAMES, 2):
            query = f"SELECT {one}, {other}, count(*) FROM '{path}' GROUP BY ALL ORDER BY ALL"
            tables.append(np.asarray(connection.execute(query).fetchnumpy()["count_star()"]))
    return tables


def floor(size: int) -> Work:
    path = records(size)
    return lambda: group_bys(path)


def ours(size: int) -> Work:
    path = records(size)
    domain = rs.Domain({name: rs.Categorical(range(VALUES), outside="drop") for name in NAMES})
    workload = rs.workload.marginals(domain, up_to=2)

    def run() -> rs.planning.Plan:
        plan = rs.plan(workload, rs.PureDP(2**0.5))
        rs.release(plan, path).answers()
        return plan

    return run


def every_table(counts: list[np.ndarray]) -> np.ndarray:
    """All 1 + 50 + 1000 answers in a row."""
    two = [table.reshape(VALUES, VALUES) for table in counts]
    one = [two[0].sum(axis=1), *(two[i].sum(axis=0) for i in range(4))]
    return np.concatenate([[two[0].sum()], *one, *(table.ravel() for table in two)])


def opendp(size: int) -> Work:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    vectors = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    measurement = vectors >> dp.m.then_laplace(float(len(TABLES)))
    path = records(size)
    return lambda: measurement(every_table(group_bys(path)).astype(int).tolist())


def plain_numpy(size: int) -> Work:
    path, generator = records(size), np.random.default_rng()
    return lambda: every_table(group_bys(path)) + generator.laplace(0.0, len(TABLES), 1051)


def on_every_answer(size: int, _: object) -> float:
    """E = Δ² for each of the 1,051 answers: a record is counted once in each of 16 tables."""
    return 1051 * len(TABLES) ** 2


def wide_study(attributes: int) -> tuple[Path, Path]:
    """A study of all tables of two attributes, and its records."""
    folder = FOLDER / "data"
    folder.mkdir(parents=True, exist_ok=True)
    study, data = folder / f"wide-{attributes}.toml", folder / f"wide-{attributes}.parquet"
    domain = "".join(
        f'[domain.a{i}]\ntype = "categorical"\ncategories = {list(range(VALUES))}\n'
        for i in range(attributes)
    )
    heading = '[study]\nname = "Wide"\n[privacy]\nrho = 0.5\n'
    study.write_text(f"{heading}{domain}[[workload]]\nmarginals = {{ exactly = 2 }}\n")
    if not data.exists():
        pq.write_table(pa.table(columns(attributes)), data)
    return study, data


def one_command(attributes: int) -> Work:
    study, data = wide_study(attributes)
    outputs = ["-o", str(study.with_suffix(".release")), "-o", str(study.with_suffix(".csv"))]
    arguments = ["release", str(study), str(data), *outputs, "--no-ledger", "--force", "--quiet"]

    def run() -> None:
        try:
            main(arguments)
        except SystemExit as end:
            if end.code:
                raise RuntimeError(f"rowspace release ended with {end.code}") from None

    return run


CASES = (
    Case(
        "releasing",
        "all tables of up to two of five attributes, records in Parquet, Laplace noise",
        "records",
        (10**5, 10**6, 10**7),
        10**4,
        Contender("the ten plain DuckDB GROUP BYs it needs", floor),
        (
            Contender(OURS, ours, lambda size, plan: plan.total_error),
            Contender(
                "OpenDP, GROUP BYs and Laplace noise on every answer", opendp, on_every_answer, "opendp"
            ),
            Contender("numpy, GROUP BYs and Laplace noise on every answer", plain_numpy, on_every_answer),
        ),
        error_of="E",
        remark="rowspace's time is planning, counting, noise and the table of answers with error bars.",
    ),
    Case(
        "releasing",
        "one command: all tables of two attributes, 100,000 records, release file and CSV",
        "attributes",
        (25, 50, 100, 200),
        5,
        BINCOUNT,
        (Contender(OURS, one_command),),
        remark=f"`rowspace release` from a study and {RECORDS:,} records in Parquet to the files; at 200 attributes "
        "19,900 tables with 1,990,000 answers.",
    ),
)
