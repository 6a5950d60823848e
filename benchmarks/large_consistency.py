"""What non-negative and whole counts cost at 2²⁰ cells, the most that are solved for one by one.

    python -m benchmarks.large_consistency

CPU seconds after the release, and how far at most the counts are from the exact solution: in the answers to the
strategy, root mean square, in standard deviations of their noise (the distance itself is about a tenth of that bound).
"""

from __future__ import annotations

import time

import numpy as np

import rowspace as rs
from rowspace.reconstruct.joint_tables import joint_estimate
from rowspace.reconstruct.nonnegative import nonnegative_cells, whole_cells
from rowspace.releases.evidence import measurement_of

CELLS = 2**20
LINE = rs.Domain(v=rs.Numeric(0, CELLS, bins=CELLS, outside="drop"))
TABLE = rs.Domain({name: rs.Categorical(list(range(16)), outside="drop") for name in "abcde"})


def cases() -> dict[str, tuple[rs.Workload, rs.privacy.Privacy]]:
    """What is asked, and under which guarantee."""
    return {
        "every cell, ε = 1": (rs.workload.identity(LINE), rs.PureDP(1.0)),
        "2-way tables of 16⁵, ε = 1": (rs.workload.marginals(TABLE, up_to=2), rs.PureDP(1.0)),
        "2-way tables of 16⁵, ρ = 0.5": (rs.workload.marginals(TABLE, up_to=2), rs.ZCDP(0.5)),
        "ranges (a hierarchy), ε = 1": (rs.workload.ranges(LINE, "v"), rs.PureDP(1.0)),
        "prefixes (spectral), ρ = 0.1": (rs.workload.prefixes(LINE, "v"), rs.ZCDP(0.1)),
    }


def main() -> None:
    rng = np.random.default_rng(0)
    counts = rng.poisson(rng.gamma(0.1, 10, CELLS))
    print(f"  {'workload':<32}{'steps':>7}{'within':>9}{'seconds':>9}{'whole':>9}")
    for name, (workload, privacy) in cases().items():
        release = rs.release(rs.plan(workload, privacy, effort="fast"), counts)
        measurement = measurement_of(release)
        start = (
            joint_estimate([measurement])
            if len(release.plan.domain.names) == 1
            else np.full(CELLS, counts.mean())
        )
        begun = time.process_time()
        found = nonnegative_cells([measurement], start, float(counts.sum()))
        between = time.process_time()
        whole_cells(found.counts, int(counts.sum()), workload.operator().gram())
        ended = time.process_time()
        print(
            f"  {name:<32}{found.steps:>7}{found.distance:>9.2g}{between - begun:>9.1f}{ended - between:>9.1f}"
        )


if __name__ == "__main__":
    main()
