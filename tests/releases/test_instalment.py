"""Files of instalments are trusted in nothing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rowspace as rs
from rowspace.exceptions import FileError, PredicateError, RowspaceError, UnsupportedWorkload
from rowspace.releases.instalment import decoded

DOMAIN = rs.Domain(month=rs.Dates("2024-01-01", "2025-01-01", every="month"))


def test_a_damaged_instalment_is_refused():
    plan = rs.plan(rs.workload.prefixes(DOMAIN, "month"), rs.ZCDP(0.5), over="month")
    made = rs.instalment(plan, [1] * 12, period="2024-01")
    body, arrays = plan.encode()
    assert decoded(body | {"period": "2024-01"}, arrays, made.noisy_answers).to_bytes() == made.to_bytes()
    for period in ("2024-02", "2025-01", 7, None, ["2024-01"]):
        with pytest.raises(FileError):
            decoded(body | {"period": period}, arrays, made.noisy_answers)
    with pytest.raises(FileError):
        decoded(body | {"period": "2024-01"}, arrays, np.zeros(2, dtype=np.int64))
    weakened = {**body["noise"], **{k: v / 2 for k, v in body["noise"].items() if isinstance(v, float | int)}}
    with pytest.raises(RowspaceError):
        decoded(body | {"period": "2024-01", "noise": weakened}, arrays, made.noisy_answers)
    plain, own = rs.plan(rs.workload.prefixes(DOMAIN, "month"), rs.ZCDP(0.5)).encode()
    with pytest.raises(FileError):
        decoded(plain | {"period": "2024-01"}, own, made.noisy_answers)


def test_answers_stay():
    plan = rs.plan(rs.workload.ranges(DOMAIN, "month"), rs.ZCDP(0.5), over="month")
    first = rs.instalment(plan, [50] * 12, period="2024-01")
    second = rs.instalment(plan, [50] * 12, period="2024-02", before=first)
    january = second.ask("month = '2024-01'")["answer"][0]
    assert january == pytest.approx(first.answers()["answer"][0], abs=1e-9)


def test_questions_over_the_whole_horizon_are_answered_so_far():
    """As pandas counts the periods that are over, in whatever form they are asked; later ones are said to be later."""
    domain = rs.Domain(sex=rs.Categorical(["F", "M"]), month=DOMAIN["month"])
    rng = np.random.default_rng(4)
    months = pd.date_range("2024-01-01", periods=12, freq="MS")
    people = pd.DataFrame({"month": rng.choice(months, 400), "sex": rng.choice(["F", "M", None], 400)})
    wanted = rs.workload.marginal(domain, "sex", "month") + rs.workload.marginal(domain, "month")
    plan = rs.plan(wanted, rs.ZCDP(200.0), over="month")
    first = rs.instalment(plan, people, period="2024-01")
    second = rs.instalment(plan, people, period="2024-02", before=first)
    so_far = people[people["month"] < "2024-03-01"]
    both = second.ask(rs.workload.marginal(domain, "sex", "month"))
    for row in both.itertuples():
        same = (so_far["sex"] == row.sex) & (so_far["month"].dt.strftime("%Y-%m") == row.month)
        assert row.answer == pytest.approx(same.sum(), abs=0.01)
    assert both["month"].tolist() == ["2024-01", "2024-02"] * 2
    mixed = second.ask(rs.workload.marginal(domain, "sex") + rs.workload.prefixes(domain, "month"))
    counted = [(so_far["sex"] == one).sum() for one in "FM"]
    counted += [(so_far["month"] < end).sum() for end in ("2024-02-01", "2024-03-01")]
    assert mixed["answer"].tolist() == pytest.approx(counted, abs=0.01)
    for later in ("month = '2024-05'", rs.workload.predicates(domain, ["month >= '2024-02-01'"])):
        with pytest.raises(UnsupportedWorkload, match="after 2024-02, which are not released yet"):
            second.ask(later)
    with pytest.raises(PredicateError, match="unknown attribute"):
        second.ask("moth = '2024-05'")
