"""Timing, memory and records."""

import time

import numpy as np
from benchmarks.goals import GOALS
from benchmarks.harness import Case, Contender, Timing, best, measured, resident_peak
from benchmarks.page import write
from benchmarks.records import Reached, Record, load, save
from benchmarks.side_by_side import CASES


def nothing(size):
    return lambda: size


def case(*contenders):
    return Case("planning", "nothing", "cells", (1, 2), 1, Contender("floor", nothing), contenders)


def test_the_best_of_several_is_taken(monkeypatch):
    timings = iter([Timing(0.5, 0.5), Timing(0.3, 0.2), Timing(0.2, 0.3), Timing(0.4, 0.4)])
    monkeypatch.setattr("benchmarks.harness.once", lambda work, calls=1: next(timings))
    assert best(nothing(1), repeats=3) == Timing(0.2, 0.2)


def test_slow_work_is_run_once():
    calls = []
    best(lambda: (calls.append(1), time.sleep(0.01)), patience=0.001)
    assert len(calls) == 1


def test_memory_of_other_libraries_is_seen_too():
    result, peak = resident_peak(lambda: np.ones(10**7))
    if peak is not None:
        assert 0.9 * result.nbytes <= peak <= 1.5 * result.nbytes


def test_a_missing_peer_is_a_row_that_says_so():
    absent = Contender("peer", nothing, needs="no_such_package_anywhere")
    assert [r.note for r in measured(case(absent), absent, (1, 2))] == [
        "no_such_package_anywhere is not installed"
    ] * 2


def test_errors_are_of_what_the_work_returned():
    one = Contender("one", nothing, error=lambda size, result: 10 * size + result)
    assert [r.error for r in measured(case(one), one, (2, 1), patience=0.0)] == [11, 22]


def test_what_is_measured_again_is_replaced(tmp_path):
    save([Record("t", "c", "w", 1, 1.0), Record("t", "c", "w", 2, 1.0)], [Reached("g", (1.0,))], tmp_path)
    save([Record("t", "c", "w", 1, 5.0)], [Reached("g", (2.0,))], tmp_path)
    records, reached = load(tmp_path)
    assert {r.size: r.elapsed for r in records} == {1: 5.0, 2: 1.0}
    assert reached == [Reached("g", (2.0,))]


def test_a_page_of_nothing_says_what_is_missing(tmp_path):
    write([], [], tmp_path)
    assert (tmp_path / "benchmarks.md").read_text().count("not run") == len(GOALS)


def test_names_are_unique():
    for one in CASES:
        names = [contender.name for contender in one.contenders]
        assert len(set(names)) == len(names)
        assert names[0] == "rowspace"
    assert len({(c.topic, c.name) for c in CASES}) == len(CASES)
    assert len({goal.name for goal in GOALS}) == len(GOALS)


def test_a_goal_is_met_when_every_number_is():
    goal = next(goal for goal in GOALS if goal.name == "products, Laplace noise")
    assert goal.is_met((1.0e9, 58_000.0))
    assert not goal.is_met((1.0e9, 58_100.0))
