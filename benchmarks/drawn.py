"""Plans in the integers that are asked, with the noise that is drawn: beside plain counts, and the bound.

python -m benchmarks.drawn
"""

from __future__ import annotations

import time

import numpy as np

import rowspace as rs
from rowspace import operators as op
from rowspace import strategy

PLAIN = (
    (64, rs.PureDP(3.0)),
    (64, rs.PureDP(5.0)),
    (64, rs.PureDP(8.0)),
    (20, rs.PureDP(1.0)),
    (20, rs.ZCDP(5.0)),
    (20, rs.ZCDP(10.0)),
)


def ranges(cells: int) -> rs.Workload:
    return rs.workload.ranges(rs.Domain(age=rs.Numeric(0, cells, bins=cells, outside="drop")), "age")


def totals() -> tuple[float, ...]:
    """Total squared errors of all ranges at large budgets."""
    return tuple(rs.plan(ranges(cells), privacy).total_error for cells, privacy in PLAIN)


def census() -> rs.Workload:
    """Tables like those of a census summary file over 2 × 2 × 64 × 115 cells."""
    domain = rs.Domain(
        hispanic=rs.Categorical(["no", "yes"], outside="drop"),
        sex=rs.Categorical(["F", "M"], outside="drop"),
        race=rs.Categorical(range(64), outside="drop"),
        age=rs.Numeric(0, 115, bins=115, outside="drop"),
    )
    w = rs.workload.total(domain)
    for some in ((), ("hispanic",), ("sex",), ("hispanic", "sex")):
        for rest in ({"race": "identity"}, {"age": "ranges"}, {"race": "identity", "age": "prefixes"}):
            w += rs.workload.product(domain, {**dict.fromkeys(some, "identity"), **rest})
    return w


def census_ratios() -> tuple[float, ...]:
    """The plan's error over that of the best product in real numbers, and over the bound."""
    w, privacy = census(), rs.ZCDP(0.5)
    plan = rs.plan(w, privacy)
    product = strategy.Product().optimize(w.weighted_operator(), privacy)
    return plan.total_error / product.total_error, plan.ratio


def laplace_ratios() -> tuple[float, ...]:
    """Certified ratios of plans with Laplace noise: cells and total of 256, ranges of 7."""
    domain = rs.Domain(age=rs.Numeric(0, 256, bins=256, outside="drop"))
    both = rs.workload.identity(domain) + rs.workload.total(domain)
    return rs.plan(both, rs.PureDP(0.01)).ratio, rs.plan(ranges(7), rs.PureDP(0.01)).ratio


def main() -> None:
    """Print all figures."""
    for cells, privacy in PLAIN:
        start = time.process_time()
        plan = rs.plan(ranges(cells), privacy)
        seconds = time.process_time() - start
        plain = rs.plan(ranges(cells), privacy, strategy=np.eye(cells)).total_error
        print(
            f"ranges of {cells}, {privacy}: plan {plan.total_error:.6g}, plain counts {plain:.6g}, "
            f"bound {plan.lower_bound:.6g}, {seconds:.2f} CPU s"
        )
    over_real, over_bound = census_ratios()
    print(f"census union: plan {over_real:.4f} × the product in real numbers, {over_bound:.4f} × the bound")
    for n in (3, 5, 7, 9):
        W = op.Ranges(n)
        start = time.process_time()
        bound = strategy.laplace_bound(W, 9)
        seconds = time.process_time() - start
        print(
            f"ranges of {n}: L1 bound {bound:.4f}, L2 {strategy.dual_bound(W, 30):.4f}, {seconds:.2f} CPU s"
        )
    print("certified ratios, cells and total of 256 / ranges of 7:", *(f"{r:.4f}" for r in laplace_ratios()))


if __name__ == "__main__":
    main()
