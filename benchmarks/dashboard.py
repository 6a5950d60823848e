"""200 SQL queries of a dashboard on the bundled sample: read, planned jointly and released; error against one by one.

    python -m benchmarks.dashboard

One by one: every statement is answered by itself by the Laplace mechanism with its share of the same ε, either the
same share for each, or the shares of least total error (ε_i ∝ (m_i Δ_i²)^(1/3) for m_i answers of sensitivity Δ_i).
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

import rowspace as rs
from rowspace.sample import people_path
from rowspace.study import Study

EPSILON = 1.0


def one_by_one(workload: rs.Workload, epsilon: float) -> tuple[float, float]:
    """(total squared error with equal shares of ε, with the best shares)."""
    statements: dict[str, list[rs.workload.Part]] = {}
    for part in workload.parts:
        statements.setdefault(_statement(part.group), []).append(part)
    answers, sensitivities = [], []
    for parts in statements.values():
        own = rs.Workload(workload.domain, parts).reduced().operator()
        answers.append(own.shape[0])
        sensitivities.append(own.max_column_norm(1))
    # m answers with noise of scale Δ/ε_i have total squared error 2mΔ²/ε_i².
    costs = np.array(answers) * np.square(sensitivities)
    equal = 2 * costs.sum() * (len(costs) / epsilon) ** 2
    best = 2 * np.cbrt(costs).sum() ** 3 / epsilon**2
    return float(equal), float(best)


def _statement(group: str) -> str:
    """The statement that a group belongs to: counts side by side in one SELECT are one statement."""
    together = ("headline counts: ", "women and men in work age: ")
    return next((name for name in together if group.startswith(name)), group)


def main() -> None:
    folder = Path(people_path()).parent
    domain = Study.load(folder / "people.toml").domain
    started = time.perf_counter()
    workload = rs.workload.sql(domain, folder / "dashboard.sql")
    read = time.perf_counter()
    plan = rs.plan(workload, rs.PureDP(EPSILON))
    planned = time.perf_counter()
    answers = rs.release(plan, people_path()).answers()
    released = time.perf_counter()
    equal, best = one_by_one(workload, EPSILON)
    statements = len({_statement(part.group) for part in workload.parts})
    print(f"{statements} statements, {len(answers):,} answers, {plan.domain.size:,} cells, ε = {EPSILON:g}")
    print(
        f"  read {read - started:.2f} s, planned {planned - read:.2f} s, released {released - planned:.2f} s: ",
        end="",
    )
    print(f"{released - started:.2f} s in all (required: under 10)")
    joint = plan.rmse**2 * len(answers)
    print(f"  total squared error   jointly {joint:.4g} ({plan.candidates[0].name}; {plan.certificate})")
    for name, alone in (("equal shares of ε", equal), ("best shares of ε", best)):
        print(f"    one by one, {name:<18} {alone:.4g}: {alone / joint:.1f} times as much (required: 4)")


if __name__ == "__main__":
    main()
