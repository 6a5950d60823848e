"""Strategies as plain matrices, with their errors and a bound: python examples/compare_strategies.py"""

import numpy as np

from rowspace import ZCDP, PureDP, error, strategy
from rowspace import operators as op
from rowspace.privacy import Privacy

CELLS = 64


def compare(W: op.Operator, privacy: Privacy) -> None:
    """The classical strategies, the one that is chosen, and what none can go below."""
    classical: dict[str, op.Operator] = {
        "identity": op.Identity(CELLS),
        "binary tree": op.Hierarchy(CELLS),
        "Haar wavelet": op.Haar(CELLS),
    }
    for name, A in classical.items():
        print(f"  {name:14} {error.total_error(A, W, privacy):12.1f}")
    chosen = strategy.select(W, privacy, rng=np.random.default_rng(0))
    print(f"  {'chosen':14} {chosen.total_error:12.1f}   {chosen.ratio:.3f} times the bound")


def main() -> None:
    """All ranges and all prefixes, under both kinds of noise; unit variance 1."""
    for title, W in (("all ranges", op.Ranges(CELLS)), ("prefixes", op.Prefix(CELLS))):
        for noise, privacy in (("Laplace", PureDP(2**0.5)), ("Gaussian", ZCDP(0.5))):
            print(f"{title}, {noise} noise")
            compare(W, privacy)


if __name__ == "__main__":
    main()
