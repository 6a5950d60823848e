"""Workloads stay implicit: kilobytes and milliseconds, whatever the number of queries and cells."""

from __future__ import annotations

import time
import tracemalloc

import pytest

from rowspace import workload as wl
from rowspace.domain import Categorical, Domain, Numeric


@pytest.fixture
def budget():
    """Measure the peak memory of a step, in bytes."""

    class Budget:
        def __enter__(self):
            tracemalloc.start()
            return self

        def __exit__(self, *_):
            self.bytes = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()

    return Budget()


def test_all_ranges_on_a_million_cells(budget):
    with budget:
        domain = Domain(x=Numeric(0, 2**20, bins=2**20, integer=True))
        workload = 2 * wl.ranges(domain, "x") + wl.prefixes(domain, "x")
        assert workload.weighted_operator().shape == (2**19 * (2**20 + 1) + 2**20, 2**20)
        assert workload.label(2**20 + 5) == "x in [1, 7)"
        assert len(workload.labels(2**39, 2**39 + 100)) == 100
        assert len(str(workload.to_dict())) < 1_000
    assert budget.bytes < 200_000


def test_two_way_marginals_of_thirty_attributes(budget):
    wl.marginals(Domain(a=Categorical([1, 2]), b=Categorical([1, 2])), up_to=2).weighted_operator()
    with budget:
        domain = Domain({f"a{k}": Categorical(list(range(10))) for k in range(30)})
        workload = wl.marginals(domain, exactly=2)
    assert len(workload.parts) == 435
    assert workload.size == 43_500
    assert budget.bytes < 300_000
    with budget:
        operator = workload.weighted_operator()
    assert operator.shape == (43_500, 10**30)
    assert budget.bytes < 5_000_000


def test_building_takes_milliseconds():
    domain = Domain({f"a{k}": Categorical(list(range(10))) for k in range(30)})
    start = time.perf_counter()
    workload = wl.marginals(domain, up_to=2)
    workload.weighted_operator()
    workload.label(20_000)
    assert time.perf_counter() - start < 1.0


def test_predicates_cost_what_they_touch(budget):
    domain = Domain({f"a{k}": Numeric(0, 1000, bins=1000, integer=True) for k in range(30)})
    with budget:
        workload = wl.predicates(domain, [f"a{k} < {k + 1} and a{k + 1} >= 5" for k in range(29)])
        workload.weighted_operator()
    assert budget.bytes < 3_000_000
