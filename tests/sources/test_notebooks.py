"""Data is read in a notebook as anywhere else, whatever is installed beside it."""

from __future__ import annotations

import subprocess
import sys

# DuckDB looks for a main module that is no file, for a kernel, and for ipywidgets to draw its progress in.
NOTEBOOK = """
import sys, types
vars(sys.modules["__main__"]).pop("__file__", None)
IPython = types.ModuleType("IPython")
IPython.get_ipython = lambda: types.SimpleNamespace(config={"IPKernelApp": {}})
IPython.display = sys.modules["IPython.display"] = types.ModuleType("IPython.display")
sys.modules["IPython"] = IPython
class Without:
    def find_spec(self, name, *_):
        if name == "ipywidgets":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Without())
import duckdb
try:
    duckdb.connect().execute("SET enable_progress_bar = false")
except duckdb.InvalidInputException as error:
    print("ipywidgets" in str(error))
import pandas as pd
import rowspace as rs
from rowspace.sources import count_cells
from rowspace.sources.databases import embedded_duckdb
print(*count_cells(pd.DataFrame({"age": [0, 1, 1]}), rs.Domain(age=rs.Numeric(0, 2, bins=2))))
print(embedded_duckdb().raw_sql("SELECT current_setting('enable_progress_bar')").fetchall()[0][0])
"""


def test_a_notebook_without_ipywidgets() -> None:
    done = subprocess.run([sys.executable, "-c", NOTEBOOK], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n") == ["True", "1 2", "False", ""]
