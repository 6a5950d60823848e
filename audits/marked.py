"""Tables with marked values in every place where they can do harm."""

from __future__ import annotations

import gzip
import os
import re
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

MARK = "zqxjmark"
NUMBER = 7741774177
PLACE = 4711
"""Line of the marked record, so that a message with its place can be found too."""

MARKS = re.compile(rf"{MARK}|7741774177|7\.741774177|7[ ,_]?741[ ,_]?774[ ,_]?177|\b4[,_]?71[012]\b")

RECORDS = [f"{i % 8},{'FM'[i % 2]}" for i in range(PLACE - 2)]


def csv_with(record: str, *, header: str = "age,sex") -> bytes:
    """A table whose record on line `PLACE` is the given one."""
    return "\n".join([header, *RECORDS, record, "3,F", ""]).encode()


def _parquet(**columns: Any) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), sink)
    return bytes(sink.getvalue())


def _frame(age: Any = 3, sex: Any = "F") -> dict[str, list[Any]]:
    return {"age": [*range(8), age], "sex": [*"FMFMFMFM", sex]}


def marked_files() -> dict[str, bytes]:
    """Files with marked values where they do harm, by file name."""
    damaged = _parquet(**_frame(sex=MARK))
    return {
        "category.csv": csv_with(f"3,{MARK}"),
        "text in a numeric column.csv": csv_with(f"{MARK},F"),
        "number outside.csv": csv_with(f"{NUMBER},F"),
        "negative.csv": csv_with(f"-{NUMBER},F"),
        "huge.csv": csv_with(f"{NUMBER}e300,F"),
        "too large for a double.csv": csv_with(f"{NUMBER}e999,F"),
        "hundred digits.csv": csv_with(f"{NUMBER}" * 10 + ",F"),
        "null.csv": csv_with(",F"),
        "null category.csv": csv_with("3,"),
        "too few cells.csv": csv_with(MARK),
        "too many cells.csv": csv_with(f"3,F,{MARK}"),
        "open quote.csv": csv_with(f'"{MARK},F'),
        "stray quote.csv": csv_with(f'"3"{MARK},"F"'),
        "no header.csv": csv_with("3,F", header=f"{MARK},{NUMBER}"),
        "long cell.csv": csv_with("3," + MARK * 400_000),
        "nul byte.csv": csv_with(f"3,\0{MARK}"),
        "latin-1.csv": csv_with(f"3,{MARK}é").decode().encode("latin-1"),
        "no text at all.csv": os.urandom(200) + MARK.encode() + os.urandom(200),
        "further column.csv": csv_with(f"3,F,{MARK}", header="age,sex,name")
        .replace(b",F\n", b",F,\n")
        .replace(b",M\n", b",M,\n"),
        "damaged.csv.gz": gzip.compress(csv_with(f"3,{MARK}"))[:-40],
        "category.parquet": _parquet(**_frame(sex=MARK)),
        "text in a numeric column.parquet": _parquet(age=[MARK] * 9, sex=_frame()["sex"]),
        "numbers in a text column.parquet": _parquet(age=_frame()["age"], sex=[NUMBER] * 9),
        "lists.parquet": _parquet(age=[[NUMBER]] * 9, sex=_frame()["sex"]),
        "huge.parquet": _parquet(age=[float(NUMBER) * 1e290] * 9, sex=_frame()["sex"]),
        "damaged.parquet": damaged[: len(damaged) // 2] + MARK.encode() + damaged[len(damaged) // 2 :],
        "cut off.parquet": damaged[:-20],
    }


def marked_objects() -> dict[str, Any]:
    """Sources in memory with marked values."""
    counts = np.arange(16)
    return {
        "mixed frame": pd.DataFrame({"age": pd.Series([1, MARK], dtype=object), "sex": ["F", "M"]}),
        "frame of objects": pd.DataFrame({"age": [{MARK: NUMBER}], "sex": ["F"]}),
        "text in a numeric column": pd.DataFrame(_frame()).astype({"age": str}).replace("3", MARK),
        "frame outside": pd.DataFrame(_frame(age=NUMBER, sex=MARK)),
        "frame with nothing": pd.DataFrame(_frame(age=None, sex=None)),
        "decimals": pa.table({"age": pa.array([NUMBER], pa.decimal128(38, 3)), "sex": ["F"]}),
        "text for counts": [MARK] * 16,
        "ragged counts": [[NUMBER], [1, 2]],
        "negative counts": counts - NUMBER,
        "fractional counts": counts + 0.7741774177,
        "too many records": counts + NUMBER * 10**9,
        "beyond 64 bits": [NUMBER * 10**30] * 16,
        "not a number": np.where(counts == 5, np.nan, NUMBER),
        "wrong shape": np.full(15, NUMBER),
    }
