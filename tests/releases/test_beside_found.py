"""Counts that were paid for with a discovery, beside a release: no bias, smaller errors, and what is refused."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest

import rowspace as rs
from rowspace.exceptions import InvalidInput, TooLarge, UnsupportedWorkload
from rowspace.measure import draw, measure_keys
from rowspace.noise import SecureRandom
from rowspace.releases.discovered import Discovery
from rowspace.report.html import write_report
from rowspace.sources import count_cells

COUNTS = {"asthma": 300, "flu": 33, "gout": 120, "mumps": 24, "rash": 4}
NOISE = rs.ApproxDP(1.0, 1e-8)


def visits(counts: dict[str, int] = COUNTS) -> pd.DataFrame:
    """Records with a diagnosis and a sex, and some without."""
    diagnoses = np.repeat(list(counts), list(counts.values()))
    frame = pd.DataFrame({"diagnosis": diagnoses, "sex": np.resize(["F", "M", "F"], len(diagnoses))})
    return pd.concat([frame, pd.DataFrame({"diagnosis": [None] * 3, "sex": ["F"] * 3})], ignore_index=True)


def released(found: Discovery, privacy: rs.privacy.Privacy, frame: pd.DataFrame) -> rs.Release:
    domain = rs.Domain(sex=rs.Categorical(["F", "M"]), diagnosis=found.categorical)
    return rs.release(rs.plan(rs.workload.marginals(domain, up_to=2), privacy, effort="fast"), frame)


@pytest.mark.parametrize("privacy", [rs.PureDP(0.5), rs.ZCDP(0.05)], ids=["laplace", "gaussian"])
def test_what_was_found_need_not_be_paid_for_again(privacy: rs.privacy.Privacy) -> None:
    frame = visits()
    found = rs.discover(frame, "diagnosis", privacy=NOISE)
    alone = released(found, privacy, frame)
    for both in (rs.combine([alone, found]), rs.combine([found, alone]), alone.combine(found)):
        for query in ("diagnosis = 'asthma'", "diagnosis = 'gout' and sex = 'F'"):
            one, two = alone.ask(query).iloc[0], both.ask(query).iloc[0]
            assert two["std_error"] < one["std_error"]
        whole = both.ask("diagnosis = 'asthma'").iloc[0]
        assert whole["std_error"] <= found.plan.threshold.std_error
        assert abs(whole["answer"] - COUNTS["asthma"]) < 20
        # All answers are of one estimate: they add up.
        parts = [f"diagnosis = 'asthma' and sex {sex}" for sex in ("= 'F'", "= 'M'", "is missing")]
        assert both.ask(parts)["answer"].sum() == pytest.approx(whole["answer"])
        assert "1 release and 1 discovery combined" in both.statement
        assert str(NOISE.delta) in str(both.plan.privacy)
    np.testing.assert_allclose(rs.combine([found, alone]).answers()["answer"], both.answers()["answer"])


def test_errors_are_as_stated() -> None:
    """Draws of both, among those that show a value: no bias, and errors that are no larger than what is said.

    With 200 draws the mean of an answer has a deviation of 1/14 standard error, 6 of them are 0.43: false alarms below
    1e-6 in all. The mean square of errors deviates by up to 16 % (Laplace noise): 6 of that, and the 6 % that the
    ramp may cost, are a factor of 2.1. The exact figures are in tests/error/test_selection.py.
    """
    names = ["flu", "gout", "mumps"]
    domain = rs.Domain(diagnosis=rs.Categorical(names, other="other"), sex=rs.Categorical(["F", "M"]))
    frame = visits()
    plan = rs.plan(rs.workload.marginals(domain, up_to=2), rs.PureDP(0.7), effort="fast")
    exact = plan.strategy @ count_cells(frame, plan.domain).reshape(-1)
    discovered = rs.discover(frame, "diagnosis", privacy=NOISE).plan
    queries = rs.workload.marginals(domain, up_to=2)
    truth = rs.release(rs.plan(queries, rs.PureDP(1e6), effort="fast"), frame).ask(queries)["answer"].round()
    errors, stated = [], []
    while len(errors) < 200:
        where, noisy = measure_keys(discovered.threshold, discovered.least, [COUNTS[n] for n in names])
        if len(where) < len(names):
            continue
        found = Discovery(discovered, (tuple(names),), noisy)
        noise = draw(plan.noise, len(exact), SecureRandom())
        answers = rs.combine([rs.Release(plan, exact.astype(np.int64) + noise), found]).ask(queries)
        errors.append(answers["answer"] - truth)
        stated.append(answers["std_error"] ** 2)
    mean, second, said = np.mean(errors, axis=0), np.mean(np.square(errors), axis=0), np.mean(stated, axis=0)
    assert np.all(np.abs(mean) < 0.43 * np.sqrt(said))
    assert np.all(second < 2.1 * said)


def test_counts_that_are_all_near_the_threshold() -> None:
    """They add to the answers what they can, and nothing to what is stated."""
    frame = visits()
    plan = rs.discover(frame, "diagnosis", privacy=NOISE).plan
    found = Discovery(plan, (("flu", "mumps"),), [plan.least + 1, plan.least])
    domain = rs.Domain(diagnosis=found.categorical, sex=rs.Categorical(["F", "M"]))
    alone = rs.release(rs.plan(rs.workload.marginals(domain, up_to=2), rs.PureDP(0.5), effort="fast"), frame)
    both = rs.combine([alone, found])
    np.testing.assert_allclose(both.answers()["std_error"], alone.answers()["std_error"])


def test_combinations_of_columns() -> None:
    frame = visits({"asthma": 300, "gout": 120})
    found = rs.discover(frame, ("sex", "diagnosis"), privacy=NOISE)
    domain = rs.Domain(found.attributes)
    for own in (domain, rs.Domain({name: domain[name] for name in reversed(domain.names)})):
        alone = rs.release(rs.plan(rs.workload.identity(own), rs.PureDP(0.2), effort="fast"), frame)
        both = rs.combine([alone, found])
        asked = both.ask("diagnosis = 'asthma' and sex = 'M'").iloc[0]
        assert abs(asked["answer"] - 100) < 20
        assert asked["std_error"] < alone.ask("diagnosis = 'asthma' and sex = 'M'")["std_error"][0] / 2


def test_a_page_and_files_are_of_both(tmp_path) -> None:
    frame = visits()
    found = rs.discover(frame, "diagnosis", privacy=NOISE)
    both = rs.combine([released(found, rs.PureDP(0.5), frame), found])
    rs.export(both, tmp_path / "both.csv")
    np.testing.assert_allclose(pd.read_csv(tmp_path / "both.csv")["answer"], both.answers()["answer"])
    write_report(both, tmp_path / "both.html")
    assert "1 release and 1 discovery" in (tmp_path / "both.html").read_text()
    assert both.consistent().answers()["answer"].min() >= 0


def test_what_is_no_evidence_is_refused() -> None:
    frame = visits()
    found = rs.discover(frame, "diagnosis", privacy=NOISE)
    alone = released(found, rs.PureDP(0.5), frame)
    people = frame.assign(person=np.arange(len(frame)))
    domain = alone.plan.domain.without_places()
    made = partial(rs.plan, privacy=rs.PureDP(0.5), effort="fast")
    dropping = rs.Domain(sex=rs.Categorical(["F"], outside="drop"), diagnosis=found.categorical)
    fewer = rs.Domain(diagnosis=rs.Categorical(found.values[0][1:], other="other"))
    many = rs.Domain(age=rs.Numeric(0, 1000, bins=1000), diagnosis=found.categorical)
    coarse = rs.workload.predicates(domain, ["diagnosis in ('asthma', 'gout')", "diagnosis = 'flu'"])
    unit = rs.discover(people, "diagnosis", privacy=NOISE, unit="person")
    for wrong, words in (
        ((alone, found, found), "with itself"),
        ((found,), "two or more"),
        ((found, found), "two or more"),
        ((alone, unit), "of records"),
        ((rs.release(made(rs.workload.identity(dropping)), frame), found), "leave out no record"),
        ((rs.release(made(rs.workload.identity(fewer)), frame), found), "attribute 'diagnosis' as"),
    ):
        with pytest.raises(InvalidInput, match=words):
            rs.combine(wrong)
    with pytest.raises(TooLarge, match="at most 4,096 cells"):
        rs.combine([rs.release(made(rs.workload.marginals(many, up_to=1)), frame.assign(age=3)), found])
    with pytest.raises(UnsupportedWorkload, match="no evidence by itself"):
        rs.combine([rs.release(made(coarse), frame), found]).answers()


def test_hardly_any_noise_beside_much_can_be_planned() -> None:
    """Rounding left weights that were no numbers."""
    counts = {"flu": 1740, "gout": 738, "asthma": 383, "mumps": 49, "rash": 30}
    found = rs.discover(visits(counts), "diagnosis", privacy=rs.ApproxDP(50.0, 1e-8))
    domain = rs.Domain(sex=rs.Categorical(["M", "F"]), diagnosis=found.categorical)
    plan = rs.plan(rs.workload.marginals(domain, up_to=2), rs.ZCDP(200.0), given=[found], effort="fast")
    both = rs.combine([found, rs.release(plan, visits(counts))])
    for name, count in counts.items():
        assert both.ask(f"diagnosis = '{name}'")["answer"][0] == pytest.approx(count, abs=1.0)
