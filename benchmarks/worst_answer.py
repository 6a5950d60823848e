"""The worst answer, and the least budget for several targets: error, bound and processor time.

    python -m benchmarks.worst_answer

Errors are squared, at noise of unit variance and unit sensitivity (ρ = 0.5).
"""

from __future__ import annotations

import time
from itertools import combinations

import rowspace as rs

UNIT = rs.ZCDP(0.5)
SCHEMA = {"age": 75, "education": 16, "hours": 99, "gain": 20, "loss": 20}
TARGETS = ["region: ±25 @95%", "age × sex: ±40 @95%"]


def cases() -> dict[str, tuple[rs.Workload, str]]:
    """Workloads, and the effort they are planned with."""
    found = {}
    for kind, sizes in (("prefixes", (1024, 4096, 2**20)), ("ranges", (256, 1024))):
        for n in sizes:
            domain = rs.Domain(x=rs.Numeric(0, n, bins=n))
            found[f"{kind} of {n:,} cells"] = getattr(rs.workload, kind)(domain, "x"), "normal"
    domain = rs.Domain({name: rs.Numeric(0, n, bins=n) for name, n in SCHEMA.items()})
    parts = [rs.workload.product(domain, dict.fromkeys(pair, "prefixes")) for pair in combinations(SCHEMA, 2)]
    found["two-way prefixes of 5 attributes"] = sum(parts[1:], parts[0]), "fast"
    found["prefixes of two of them"] = parts[0], "fast"
    return found


def main() -> None:
    for name, (workload, effort) in cases().items():
        started = time.process_time()
        plan = rs.plan(workload, UNIT, objective="max", effort=effort)  # type: ignore[arg-type]
        worst = plan.max_error
        seconds = time.process_time() - started
        print(f"{name:36} {worst:10.4f}  bound {plan.max_lower_bound:10.4f}  {seconds:6.1f} CPU s")
    domain = rs.Domain(
        age=rs.Numeric(0, 100, bins=100),
        sex=rs.Categorical(["F", "M"]),
        region=rs.Categorical(list("abcdefgh")),
    )
    study = rs.workload.marginal(domain, "age", "sex") + 4 * rs.workload.marginal(domain, "region")
    study += rs.workload.ranges(domain, "age")
    for kind in (rs.PureDP(1.0), rs.ZCDP(1.0)):
        for targets in (TARGETS, TARGETS[:1], TARGETS[1:]):
            started = time.process_time()
            found = rs.plan_for(study, targets, kind, effort="fast")
            seconds = time.process_time() - started
            least = f"at least {found.lower_bound:.4g}" if found.lower_bound else "no bound"
            print(f"{', '.join(targets):44} {found.epsilon:8.4g}  {least}  {seconds:6.1f} CPU s")


if __name__ == "__main__":
    main()
