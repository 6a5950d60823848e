"""Real tables as published, where they are at hand: counts are those of pandas."""

from __future__ import annotations

import pandas as pd

import rowspace as rs
from rowspace.sources import count_cells

from .tables import ADULT, at_hand


def test_adult_without_a_header_with_spaces_and_question_marks() -> None:
    path = at_hand("adult.data")
    truth = pd.read_csv(path, names=ADULT.split(","), skipinitialspace=True, na_values="?")
    domain = rs.Domain(
        {
            name: rs.Categorical(sorted(truth[name].dropna().unique()), other="?")
            for name in ("workclass", "sex")
        }
    )
    counts = count_cells(rs.CSV(path, names=ADULT.split(","), nulls=["?"], strip=True), domain)
    expected = truth.assign(workclass=truth["workclass"].fillna("?")).groupby(["workclass", "sex"]).size()
    labels = {name: [*domain[name].values, "?"] for name in domain.names}
    found = pd.DataFrame(counts, labels["workclass"], labels["sex"]).stack()
    assert found[found > 0].to_dict() == expected.to_dict()


def test_terms_of_congress() -> None:
    path = at_hand("congress-terms.csv")
    truth = pd.read_csv(path)
    domain = rs.Domain(age=rs.Numeric(0, 120, bins=12), party=rs.Categorical(["D", "R"], other="else"))
    counts = count_cells(path, domain)
    party = truth["party"].where(truth["party"].isin(["D", "R"]), "else")
    expected = pd.crosstab(truth["age"] // 10, party)
    for decade, row in expected.iterrows():
        assert counts[int(decade)].tolist() == row[["D", "R", "else"]].tolist()
    assert counts.sum() == len(truth)
