"""What may hold the data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, Union

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import ibis.expr.types as ir
    import pandas as pd
    import polars as pl
    import pyarrow as pa

__all__ = ["Source"]

Source: TypeAlias = Union[
    str,
    Path,
    "pd.DataFrame",
    "pl.DataFrame",
    "pl.LazyFrame",
    "pa.Table",
    "ir.Table",
    npt.NDArray[np.integer],
    list[int],
    tuple[int, ...],
]
"""A path of a file (CSV, Parquet, DuckDB, SQLite) or a database URL; a pandas or polars frame, an Arrow or Ibis table;
or counts that were made elsewhere, one for each cell."""
