"""What a place for missing values costs: the error of the same queries with it and without.

python -m benchmarks.missing_places
"""

from __future__ import annotations

from collections.abc import Callable

import rowspace as rs
from rowspace import workload as wl
from rowspace.domain import Domain

ADULT = (100, 100, 100, 99, 85, 42, 16, 15, 9, 7, 6, 5, 2, 2)

Queries = Callable[[Domain], wl.Workload]

CASES: dict[str, tuple[tuple[int, ...], Queries]] = {
    "ranges of one attribute": ((100,), lambda d: wl.ranges(d, "a0")),
    "ranges of one attribute, and the total": ((100,), lambda d: wl.ranges(d, "a0") + wl.total(d)),
    "one table of 100 x 2": ((100, 2), lambda d: wl.marginal(d, "a0", "a1")),
    "ranges of 100, its table by 2": ((100, 2), lambda d: wl.ranges(d, "a0") + wl.marginal(d, "a0", "a1")),
    "all tables of up to 2 of (10,)*5": ((10,) * 5, lambda d: wl.marginals(d, up_to=2)),
    "all tables of up to 3 of (10,)*10": ((10,) * 10, lambda d: wl.marginals(d, up_to=3)),
    "all tables of up to 2, Adult's sizes": (ADULT, lambda d: wl.marginals(d, up_to=2)),
    "all tables of up to 2 of (2,)*20": ((2,) * 20, lambda d: wl.marginals(d, up_to=2)),
}


def price(sizes: tuple[int, ...], queries: Queries, privacy: rs.privacy.Privacy) -> tuple[float, float]:
    """(total squared error with a place over that without one, certified ratio with a place)."""
    plans = [
        rs.plan(queries(rs.Domain({f"a{i}": attribute(n, out) for i, n in enumerate(sizes)})), privacy)
        for out in ("missing", "drop")
    ]
    return plans[0].total_error / plans[1].total_error, plans[0].ratio


def attribute(size: int, outside: str) -> rs.Numeric:
    return rs.Numeric(0, size, bins=size, outside=outside)  # type: ignore[arg-type]


def main() -> None:
    print("| queries | Gaussian: price | certified | Laplace: price |")
    print("|---|---|---|---|")
    for name, (sizes, queries) in CASES.items():
        gaussian, certified = price(sizes, queries, rs.ZCDP(0.5))
        laplace, _ = price(sizes, queries, rs.PureDP(1.0))
        print(f"| {name} | {gaussian:.4f} | {certified:.4f} | {laplace:.4f} |", flush=True)


if __name__ == "__main__":
    main()
