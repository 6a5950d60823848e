"""Answers in other kinds of tables. `Release.answers` and `Release.ask` give pandas already."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rowspace.exceptions import InvalidInput
from rowspace.releases import Release
from rowspace.workload import Workload

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import polars as pl


def to_polars(release: Release, queries: Workload | None = None, level: float = 0.95) -> pl.DataFrame:
    """The answers (or those to other queries) as a polars frame; needs ``rowspace[polars]``."""
    try:
        import polars as pl
    except ModuleNotFoundError:
        raise InvalidInput(
            "polars is not installed; install it with: pip install 'rowspace[polars]'"
        ) from None

    table = _answers(release, queries, level)
    return pl.DataFrame({name: table[name].to_list() for name in table.columns})


def to_arrow(release: Release, queries: Workload | None = None, level: float = 0.95) -> Any:
    """The answers as a pyarrow Table, with the privacy statement in its metadata under ``rowspace``."""
    import pyarrow as pa

    table = pa.Table.from_pandas(_answers(release, queries, level), preserve_index=False)
    return table.replace_schema_metadata({"rowspace": release.statement})


def to_numpy(
    release: Release, queries: Workload | None = None, level: float = 0.95
) -> dict[str, np.ndarray[Any, Any]]:
    """The figures as arrays, in the order of the workload: ``answer``, ``std_error``, ``low``, ``high``.

    >>> import rowspace as rs
    >>> domain = rs.Domain(age=rs.Numeric(0, 4, bins=4))
    >>> release = rs.release(rs.plan(rs.workload.identity(domain), rs.PureDP(1.0)), [10, 20, 30, 40])
    >>> to_numpy(release)["answer"].shape
    (4,)
    """
    table = _answers(release, queries, level)
    return {name: table[name].to_numpy() for name in ("answer", "std_error", "low", "high")}


def _answers(release: Release, queries: Workload | None, level: float) -> pd.DataFrame:
    if not isinstance(release, Release):
        raise InvalidInput(f"expected a release made by rs.release, got {type(release).__name__}")
    return release.answers(level) if queries is None else release.ask(queries, level)
