"""Spectral strategies from 64 to 2²⁰ cells: error, certificate, what integers cost, and time against `np.cumsum`.

Run with `python -m benchmarks.optimizers_spectral` from the root of the repository. Planning is everything up to the
integer strategy with its noise; measuring is exact answers plus secure noise. The yardstick is one cumulative sum of
the counts as 64-bit floats, the type all planning is done in; a sum of 64-bit integers is several times faster still.
"""

from __future__ import annotations

import numpy as np

from rowspace import ZCDP
from rowspace.measure import measure
from rowspace.operators import Operator, Prefix, Ranges
from rowspace.operators import Spectral as SpectralOperator
from rowspace.strategy import GaussianOptimal, Spectral, to_integers

from .harness import best_seconds

UNIT = ZCDP(0.5)
"""Noise of variance 1 at unit sensitivity: errors read as E."""

OPTIMUM_CELLS = 1024
"""Most cells for which the optimum itself is computed for comparison."""

SIZES = (64, 256, 1000, 1024, 4096, 10007, 2**16, 2**20)


def row(W: Operator) -> str:
    """One line of the table."""
    n = W.shape[1]
    counts = np.random.default_rng(0).integers(0, 1000, n)
    result = Spectral().optimize(W, UNIT)
    assert isinstance(result.strategy, SpectralOperator)
    integers = result.strategy.to_integers(20)[0]
    noise = UNIT.noise(integers.integer_norm(2))
    loss = noise.variance * integers.profile_trace(W) / result.total_error - 1
    optimum = f"{'':>9}"
    if n <= OPTIMUM_CELLS:
        optimum = f"{result.total_error / GaussianOptimal().optimize(W, UNIT).total_error:9.5f}"
    planning = best_seconds(lambda: to_integers(Spectral().optimize(W, UNIT).strategy, UNIT))
    measuring = best_seconds(lambda: measure(integers, noise, counts))
    floats = counts.astype(np.float64)
    yardstick = min(best_seconds(lambda: np.cumsum(floats)) for _ in range(4))
    return (
        f"{type(W).__name__:8}{n:9}{result.total_error:14.6g}{result.ratio:10.6f}{optimum}{loss:11.1e}"
        f"{1e3 * planning:10.1f}{1e3 * measuring:10.1f}{(planning + measuring) / yardstick:9.0f}"
    )


def main() -> None:
    """Print the table."""
    print(
        f"{'workload':8}{'cells':>9}{'E':>14}{'/ bound':>10}{'/ best':>9}{'integers':>11}"
        f"{'plan ms':>10}{'meas. ms':>10}{'x cumsum':>9}"
    )
    for kind in (Ranges, Prefix):
        for n in SIZES:
            print(row(kind(n)), flush=True)


if __name__ == "__main__":
    main()
