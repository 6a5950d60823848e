"""plan(given=[discovery]): what was paid for finding values is not paid for again by the plan that counts them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import rowspace as rs
from rowspace.exceptions import InvalidInput
from rowspace.measure import draw, measure_keys
from rowspace.noise import SecureRandom
from rowspace.releases.discovered import Discovery
from rowspace.sources import count_cells

COUNTS = {"asthma": 900, "flu": 400, "gout": 150, "mumps": 60, "rash": 31}
NAMES = tuple(COUNTS)
NOISE = rs.ApproxDP(0.5, 1e-8)
DOMAIN = rs.Domain(sex=rs.Categorical(["F", "M"]), diagnosis=rs.Categorical(NAMES, other="other"))
WORKLOAD = rs.workload.marginals(DOMAIN, up_to=2)
PRIVACIES = [rs.PureDP(0.5), rs.ZCDP(0.02)]


def visits() -> pd.DataFrame:
    """Records with a diagnosis and a sex, in no order, and some without."""
    diagnoses = np.repeat([*NAMES, "rare"], [*COUNTS.values(), 3])
    sexes = np.append(np.resize(["F", "M", "F"], len(diagnoses) - 1), None)
    frame = pd.DataFrame({"diagnosis": diagnoses[::-1], "sex": sexes})
    empty = pd.DataFrame({"diagnosis": [None], "sex": ["F"]})
    return pd.concat([frame, empty]).sample(frac=1, random_state=3, ignore_index=True)


def found_with(counts: list[int]) -> Discovery:
    plan = rs.discover(visits().head(0), "diagnosis", privacy=NOISE).plan
    return Discovery(plan, (NAMES,), counts)


LARGE = found_with([900, 400, 150, 110, 100])


@pytest.mark.parametrize("privacy", PRIVACIES, ids=str)
def test_the_planned_error_is_that_of_both_together(privacy: rs.privacy.Privacy) -> None:
    for found in (LARGE, found_with([900, 400, 150, 40, 36])):
        plan = rs.plan(WORKLOAD, privacy, given=[found])
        both = rs.combine([rs.release(plan, visits()), found])
        assert np.allclose(both.ask(WORKLOAD)["std_error"] ** 2, plan.query_errors())
        assert plan.lower_bound <= plan.total_error * (1 + 1e-9)
        assert "discoveries" in str(plan)


def test_counts_that_were_found_are_not_paid_for_twice() -> None:
    """At one budget in all: a plan that knows what was found, one combined with it afterwards, and one that pays again.

    The discovery has ε = 0.5 and the release ρ = 0.02 each time.
    """
    frame, privacy = visits(), rs.ZCDP(0.02)
    twice = rs.release(rs.plan(WORKLOAD, privacy), frame)
    after = rs.combine([twice, LARGE])
    shared = rs.combine([rs.release(rs.plan(WORKLOAD, privacy, given=[LARGE]), frame), LARGE])
    errors = [(own.ask(WORKLOAD)["std_error"] ** 2).sum() for own in (twice, after, shared)]
    assert errors[2] < 0.9 * errors[1] < 0.6 * errors[0]
    count = "diagnosis = 'asthma'"
    assert shared.ask(count)["std_error"][0] < 0.5 * twice.ask(count)["std_error"][0]


@pytest.mark.parametrize("privacy", PRIVACIES, ids=str)
def test_noisy_counts_choose_nothing(privacy: rs.privacy.Privacy) -> None:
    """Gains of least squares that depend on noise favour noise that was high."""
    plans = [
        rs.plan(WORKLOAD, privacy, given=[found_with(counts)])
        for counts in ([900, 400, 150, 110, 100], [36, 36, 37, 900, 38], [36, 36, 36, 36, 36])
    ]
    assert all(plan.strategy == plans[0].strategy and plan.noise == plans[0].noise for plan in plans)
    assert plans[0].total_error < plans[1].total_error < plans[2].total_error
    # Of no use at all, it costs little: the errors are those of a release that paid for the counts.
    assert plans[2].total_error < 1.25 * rs.plan(WORKLOAD, privacy).total_error


@pytest.mark.parametrize("privacy", PRIVACIES, ids=str)
def test_no_bias_and_intervals_that_cover(privacy: rs.privacy.Privacy) -> None:
    """Draws of both, among those that show all values; "rash" has fewer records than the threshold.

    With 300 draws a mean deviates by 1/17 standard error: 6 of them are 0.35. The squares of errors deviate by 13 %:
    6 of that, and the 6 % of the ramp, are a factor of 1.85. Of 21 dependent intervals a draw 93 % or more cover.
    """
    frame, exact = visits(), None
    truth = (
        rs.release(rs.plan(WORKLOAD, rs.PureDP(1e6), effort="fast"), frame).ask(WORKLOAD)["answer"].round()
    )
    errors, stated, covered = [], [], []
    while len(errors) < 300:
        where, noisy = measure_keys(LARGE.plan.threshold, LARGE.plan.least, list(COUNTS.values()))
        if len(where) < len(NAMES):
            continue
        found = Discovery(LARGE.plan, (NAMES,), noisy)
        if exact is None:
            plan = rs.plan(WORKLOAD, privacy, given=[found], effort="fast")
            exact = (plan.strategy @ count_cells(frame, plan.domain).reshape(-1)).astype(np.int64)
        release = rs.Release(plan, exact + draw(plan.noise, len(exact), SecureRandom()))
        answers = rs.combine([release, found]).ask(WORKLOAD)
        errors.append(answers["answer"] - truth)
        stated.append(answers["std_error"] ** 2)
        covered.append((answers["low"] <= truth) & (truth <= answers["high"]))
    mean, second, said = np.mean(errors, axis=0), np.mean(np.square(errors), axis=0), np.mean(stated, axis=0)
    assert np.all(np.abs(mean) < 0.35 * np.sqrt(said))
    assert np.all(second < 1.85 * said)
    assert np.mean(covered) > 0.93


def test_beside_releases_and_after_reading_again(tmp_path) -> None:
    frame, privacy = visits(), rs.ZCDP(0.02)
    first = rs.release(rs.plan(WORKLOAD, privacy), frame)
    for given in ([first, LARGE], [LARGE, first], [rs.combine([first, LARGE])]):
        plan = rs.plan(WORKLOAD, privacy, given=given)
        again = rs.release(plan, frame)
        both = rs.combine([*given, again])
        assert np.allclose(both.ask(WORKLOAD)["std_error"] ** 2, plan.query_errors())
        assert plan.total_error < rs.plan(WORKLOAD, privacy, given=[first]).total_error
    plan.save(tmp_path / "a.plan")
    assert rs.Plan.load(tmp_path / "a.plan").total_error == plan.total_error


def test_at_tiny_noise_the_counts_are_pandas() -> None:
    frame = visits()
    found = rs.discover(frame, "diagnosis", privacy=rs.ApproxDP(40.0, 1e-8), at_least=20)
    assert found.values == (NAMES,)
    domain = rs.Domain(diagnosis=found.categorical, sex=rs.Categorical(["F", "M"]))
    queries = rs.workload.marginal(domain, "diagnosis", "sex")
    both = rs.combine([found, rs.release(rs.plan(queries, rs.ZCDP(1e6), given=[found]), frame)])
    named = frame.assign(diagnosis=frame["diagnosis"].where(frame["diagnosis"].isin(NAMES), "other"))
    table = named.groupby(["diagnosis", "sex"]).size()
    for row in both.ask(queries).itertuples():
        assert row.answer == pytest.approx(table[row.diagnosis, row.sex], abs=0.01)


def test_what_cannot_be_planned_beside_a_discovery() -> None:
    people = visits().assign(person=lambda frame: np.arange(len(frame)))
    unit = rs.discover(people, "diagnosis", privacy=NOISE, unit="person")
    dropping = rs.Domain(sex=rs.Categorical(["F"], outside="drop"), diagnosis=DOMAIN["diagnosis"])
    other = rs.Domain(diagnosis=rs.Categorical(NAMES[1:], other="other"))
    for workload, given, words in (
        (WORKLOAD, [unit], "of records"),
        (WORKLOAD, [LARGE, LARGE], "with itself"),
        (rs.workload.marginal(DOMAIN, "sex"), [LARGE], "attribute 'diagnosis' as"),
        (rs.workload.marginal(other, "diagnosis"), [LARGE], "attribute 'diagnosis' as"),
        (rs.workload.identity(dropping), [LARGE], "leave out no record"),
    ):
        with pytest.raises(InvalidInput, match=words):
            rs.plan(workload, rs.ZCDP(0.1), given=given)
    with pytest.raises(InvalidInput, match="for targets"):
        rs.plan_for(WORKLOAD, "±50 @95%", rs.ZCDP(1.0), given=[LARGE])
