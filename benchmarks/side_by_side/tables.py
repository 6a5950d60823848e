"""All tables of up to three of some attributes of ten values: shared by planning, measuring and reconstructing."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

import rowspace as rs
from rowspace.measure import measure
from rowspace.planning import Plan
from rowspace.strategy import Strategy, noisy_values
from rowspace.tables import TableOperator

from ..harness import Contender, Work

TABLE_SIZES = (5, 10, 20, 30)


def queries(attributes: int) -> rs.Workload:
    domain = rs.Domain({f"a{i}": rs.Categorical(range(10), outside="drop") for i in range(attributes)})
    return rs.workload.marginals(domain, up_to=3)


@lru_cache(maxsize=1)
def planned(attributes: int) -> Plan:
    return rs.plan(queries(attributes), rs.ZCDP(0.5))


class NoRecords:
    """Tables of zeros: counting is another topic."""

    def table(self, attributes: tuple[int, ...]) -> np.ndarray:
        return np.zeros((10,) * len(attributes), dtype=np.int64)


def plan_of_tables(attributes: int) -> Work:
    workload = queries(attributes)
    return lambda: rs.plan(workload, rs.ZCDP(0.5))


def tables_error(attributes: int, plan: Plan) -> float:
    return plan.total_error


def measure_tables(attributes: int) -> Work:
    plan = planned(attributes)
    return lambda: measure(plan.strategy, plan.noise, NoRecords())


def answer_tables(attributes: int) -> Work:
    plan = planned(attributes)
    strategy = plan.strategy
    assert isinstance(strategy, TableOperator)
    noisy = measure(strategy, plan.noise, NoRecords()).answers
    products = plan.workload.products()
    return lambda: Strategy.of(strategy).estimate(noisy_values(strategy, noisy)).answers(products)


def _pass(attributes: int) -> Work:
    answers = np.zeros(queries(attributes).size)
    return lambda: np.cumsum(answers)


one_pass_over_answers = Contender("one pass over the answers (np.cumsum)", _pass)
