"""Draws the bundled sample table: `python -m tests.sample.generate` rewrites it.

The seed is fixed on purpose: this is invented data, not privacy noise, and everybody should see the same
table. Only raw 64-bit words are taken from numpy (NEP 19 promises that their stream never changes, and
promises nothing for the distributions of `Generator`), so any numpy regenerates the same table.

The model, in the order the columns are drawn:

- age: a population pyramid with a bulge of people born in the same boom;
- sex: even at birth, two women for every man at 95;
- region: unequal sizes; students and young workers move to the capital;
- education: nobody is above the level of their age; older cohorts studied less;
- income: lognormal around a level set by education, age, region and sex; pensions after 67; 0 under 16;
- household size: families around children and their parents, alone or in pairs before and after.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import scipy

from rowspace.sample import EDUCATION, REGIONS, SEXES, people_path

__all__ = ["PEOPLE", "generate_people", "write_people"]

PEOPLE = 50_000
_SEED = 2010
_MAX_INCOME = 200_000

_Floats = npt.NDArray[np.float64]
_Ints = npt.NDArray[np.int64]


class _Draws:
    """Uniform numbers in (0, 1) from a raw bit stream, and inverse distribution functions of them."""

    def __init__(self, seed: int, size: int) -> None:
        self._bits = np.random.PCG64(seed)
        self._size = size

    def uniform(self) -> _Floats:
        """The middle of one of 2^53 equal cells of (0, 1), so neither end ever comes."""
        words: npt.NDArray[np.uint64] = self._bits.random_raw(self._size)
        return ((words >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53

    def normal(self) -> _Floats:
        """Standard normal."""
        return np.asarray(scipy.special.ndtri(self.uniform()), dtype=np.float64)

    def choice(self, weights: _Floats) -> _Ints:
        """One index per person; `weights` is (options,) for all, or (size, options) with a row for each."""
        cumulative = np.cumsum(np.broadcast_to(weights, (self._size, weights.shape[-1])), axis=1)
        threshold = self.uniform() * cumulative[:, -1]
        return np.asarray((cumulative <= threshold[:, None]).sum(axis=1), dtype=np.int64)


def _ages(draws: _Draws) -> _Ints:
    """Years, by a pyramid of survival times births."""
    years = np.arange(100)
    survival = 1.0 / (1.0 + np.exp((years - 83) / 6.5))
    births = 0.85 + 0.35 * np.exp(-(((years - 56) / 9.0) ** 2)) + 0.15 * np.exp(-(((years - 30) / 6.0) ** 2))
    return draws.choice(survival * births)


def _sexes(draws: _Draws, age: _Ints) -> _Ints:
    """Index into `SEXES`; the share of women rises with age."""
    women = 0.49 + 0.18 / (1.0 + np.exp(-(age - 82) / 6.0))
    return (draws.uniform() >= women).astype(np.int64)


def _regions(draws: _Draws, age: _Ints) -> _Ints:
    """Index into `REGIONS`; the young lean to the capital, the old to the country."""
    size = np.array([0.24, 0.17, 0.19, 0.05, 0.12, 0.11, 0.09, 0.03])
    weights = np.tile(size, (age.size, 1))
    weights[:, 0] *= np.where((age >= 19) & (age <= 38), 1.6, 1.0)
    weights[:, [3, 7]] *= np.where(age >= 65, 1.7, 1.0)[:, None]
    return draws.choice(weights)


def _education(draws: _Draws, age: _Ints, region: _Ints) -> _Ints:
    """Index into `EDUCATION`; recent cohorts reach further, and the capital keeps its graduates."""
    recent = np.array([0.01, 0.03, 0.12, 0.42, 0.25, 0.17])
    early = np.array([0.06, 0.27, 0.33, 0.26, 0.05, 0.03])
    share_early = np.clip((age - 30) / 55.0, 0.0, 1.0)[:, None]
    weights = (1.0 - share_early) * recent + share_early * early
    weights[:, 4:] *= np.where(region == 0, 1.7, 1.0)[:, None]
    reached = draws.choice(weights)
    # The age at which a level is finished: nobody holds one before.
    highest_by_age = np.searchsorted(np.array([11, 16, 19, 22, 25]), age, side="right")
    return np.minimum(reached, highest_by_age)


def _incomes(draws: _Draws, age: _Ints, sex: _Ints, region: _Ints, education: _Ints) -> _Ints:
    """Whole currency units a year: lognormal for those with an income, capped at 200,000."""
    by_education = np.array([9.35, 9.55, 9.80, 10.15, 10.50, 10.75])[education]
    by_region = np.array([0.18, 0.06, 0.0, -0.14, -0.03, 0.02, -0.05, -0.18])[region]
    experience = 0.55 * np.clip((age - 16) / 30.0, 0.0, 1.0) - 0.35
    women_earn_less = np.where(sex == 0, -0.12, 0.0)
    pension = np.where(age >= 67, -0.45, 0.0)
    spread = np.where(age >= 67, 0.38, 0.55)
    level = by_education + by_region + experience + women_earn_less + pension + spread * draws.normal()
    works = draws.uniform() < np.select(
        [age < 16, age < 20, age < 25, age < 67], [0.0, 0.45, 0.75, 0.91], 0.99
    )
    return np.where(works, np.minimum(np.floor(np.exp(level)), _MAX_INCOME), 0).astype(np.int64)


def _household_sizes(draws: _Draws, age: _Ints) -> _Ints:
    """People in the household, 1 to 8, by stage of life."""
    child = np.array([0.00, 0.09, 0.24, 0.38, 0.18, 0.07, 0.03, 0.01])
    young = np.array([0.34, 0.30, 0.19, 0.11, 0.04, 0.01, 0.007, 0.003])
    parent = np.array([0.15, 0.23, 0.22, 0.26, 0.09, 0.03, 0.015, 0.005])
    empty_nest = np.array([0.25, 0.52, 0.14, 0.06, 0.02, 0.006, 0.003, 0.001])
    old = np.array([0.52, 0.40, 0.05, 0.02, 0.006, 0.002, 0.001, 0.001])
    stage = np.searchsorted(np.array([20, 30, 52, 72]), age, side="right")
    return draws.choice(np.stack([child, young, parent, empty_nest, old])[stage]) + 1


def _labelled(codes: _Ints, labels: tuple[str, ...]) -> pa.Array:
    """Codes as text."""
    return pa.array(np.array(labels, dtype=object)[codes], type=pa.string())


def generate_people() -> pa.Table:
    """The sample table, drawn anew: 50,000 rows, always the same.

    Example:
        >>> from tests.sample.generate import generate_people
        >>> generate_people().num_rows
        50000
    """
    draws = _Draws(_SEED, PEOPLE)
    age = _ages(draws)
    sex = _sexes(draws, age)
    region = _regions(draws, age)
    education = _education(draws, age, region)
    income = _incomes(draws, age, sex, region, education)
    household_size = _household_sizes(draws, age)
    return pa.table(
        {
            "age": pa.array(age, type=pa.int16()),
            "sex": _labelled(sex, SEXES),
            "region": _labelled(region, REGIONS),
            "education": _labelled(education, EDUCATION),
            "income": pa.array(income, type=pa.int32()),
            "household_size": pa.array(household_size, type=pa.int16()),
        }
    )


def write_people(path: Path) -> None:
    """Write the sample table to a Parquet file."""
    pq.write_table(generate_people(), path, compression="zstd", compression_level=19)


if __name__ == "__main__":
    write_people(people_path())
