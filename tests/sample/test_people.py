"""The bundled table is what the generator draws, and looks like a register of residents."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from rowspace import sample
from tests.sample.generate import PEOPLE, generate_people, write_people


@pytest.fixture(scope="module")
def people() -> pa.Table:
    return pq.read_table(sample.people_path())


def numbers(people: pa.Table, column: str) -> np.ndarray:
    return people[column].to_numpy().astype(np.int64)


def test_bundled_file_is_a_regeneration(people: pa.Table) -> None:
    assert people.equals(generate_people())


def test_rewriting_gives_the_same_table(tmp_path: Path, people: pa.Table) -> None:
    write_people(tmp_path / "again.parquet")
    assert pq.read_table(tmp_path / "again.parquet").equals(people)


def test_file_is_small() -> None:
    assert sample.people_path().stat().st_size < 1_000_000


def test_shape_and_ranges(people: pa.Table) -> None:
    assert people.num_rows == PEOPLE == 50_000
    assert people.column_names == ["age", "sex", "region", "education", "income", "household_size"]
    assert all(column.null_count == 0 for column in people.columns)
    for column, low, high in [("age", 0, 99), ("income", 0, 200_000), ("household_size", 1, 8)]:
        values = numbers(people, column)
        assert (values.min(), values.max()) == (low, high)


@pytest.mark.parametrize(
    ("column", "labels"), [("sex", sample.SEXES), ("region", sample.REGIONS), ("education", sample.EDUCATION)]
)
def test_every_label_occurs_and_no_other(people: pa.Table, column: str, labels: tuple[str, ...]) -> None:
    assert set(pc.unique(people[column]).to_pylist()) == set(labels)


def test_regions_are_unequal(people: pa.Table) -> None:
    sizes = [entry["counts"] for entry in pc.value_counts(people["region"]).to_pylist()]
    assert max(sizes) > 5 * min(sizes)


def test_children_have_no_income_and_no_degree(people: pa.Table) -> None:
    child = numbers(people, "age") < 16
    assert numbers(people, "income")[child].max() == 0
    education = np.array(people["education"].to_pylist())[child]
    assert set(education) == {"none", "primary"}


def test_income_is_skewed_and_rises_with_education(people: pa.Table) -> None:
    working_age = (numbers(people, "age") >= 25) & (numbers(people, "age") < 67)
    income = numbers(people, "income")
    earning = income[working_age & (income > 0)]
    assert earning.mean() > 1.1 * np.median(earning)
    education = np.array(people["education"].to_pylist())
    medians = [np.median(income[working_age & (education == level)]) for level in sample.EDUCATION]
    assert medians == sorted(medians)


def test_households_shrink_with_age(people: pa.Table) -> None:
    age, size = numbers(people, "age"), numbers(people, "household_size")
    assert size[age < 18].mean() > 3.5
    assert size[age >= 75].mean() < 2.0
