"""What the semidefinite programs and the search over rotations reach: `python -m benchmarks.optimizers_programs`.

Errors are E = (largest column L1 norm)²·tr((AᵗA)⁺WᵗW). A floor is a figure that must be reached; figures from the paper
are given where it states one. Pass a number of cells to stop there (default 16; 128 takes a minute or two).
"""

from __future__ import annotations

import sys

import numpy as np

from rowspace import operators as op
from rowspace import strategy
from rowspace.privacy import PureDP

UNIT = PureDP(2**0.5)
"""Unit variance one: total errors are E."""

FLOORS = {
    ("H4", 4): 2.646,
    ("H4", 6): 2.581,
    ("Y4", 4): 2.0001,
    ("H8", 8): 3.3794,
    ("Y8", 8): 2.8285,
    ("ranges", 4): 20.0,
}
PAPER = {"H4": 2.896, "Y4": 2.210, "H8": 3.878, "Y8": 3.414}


def least_errors() -> None:
    """Program 1 on ranges, prefixes and random workloads."""
    print(
        f"{'Program 1':12} {'n':>3} {'rows':>4} {'identity':>9} {'reached':>9} {'floor':>7} {'bound':>9} {'seconds':>7}"
    )
    rng = np.random.default_rng(0)
    for n in (2, 3, 4, 5, 6, 8, 10):
        random = op.Dense(rng.standard_normal((n, n)))
        for name, W in (("ranges", op.Ranges(n)), ("prefix", op.Prefix(n)), ("random", random)):
            for rows in (n, n + 2):
                result = strategy.MinErrorSDP(rows).optimize(W, UNIT)
                floor = FLOORS.get((name, n), "")
                print(
                    f"{name:12} {n:3} {rows:4} {W.squared_frobenius():9.3f} {result.total_error:9.4f} {floor:>7} "
                    f"{result.lower_bound:9.3f} {result.seconds:7.2f}",
                    flush=True,
                )


def least_sensitivities(largest: int) -> None:
    """MinSensitivity and Program 3 on hierarchies and wavelets."""
    print(
        f"\n{'profile':8} {'rows':>4} {'given':>6} {'paper':>6} {'Program 3':>9} {'reached':>9} {'floor':>7} "
        f"{'ratio':>6} {'bound':>6} {'seconds':>7}"
    )
    cells = [n for n in (4, 8, 16, 32, 64, 128) if n <= largest]
    for n in cells:
        for letter, A in (("H", op.Hierarchy(n)), ("Y", op.Haar(n))):
            for rows in {4: (4, 6, 8), 8: (8, 12), 16: (16, 24)}.get(n, (n,)):
                name = f"{letter}{n}"
                found = strategy.least_sensitivity(A, rows)
                program = ""
                if n <= 8:
                    by_program = strategy.MinSensitivityProgram(A, rows).optimize(op.Identity(n), UNIT)
                    program = f"{by_program.strategy.max_column_norm(1):.4f}"
                floor = FLOORS.get((name, rows))
                ratio = f"{found.sensitivity / floor:.4f}" if floor else ""
                print(
                    f"{name:8} {rows:4} {A.max_column_norm(1):6.3f} {PAPER.get(name, ''):>6} {program:>9} "
                    f"{found.sensitivity:9.5f} {floor or '':>7} {ratio:>6} {found.lower_bound:6.3f} "
                    f"{found.seconds:7.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    least_errors()
    least_sensitivities(int(sys.argv[1]) if len(sys.argv) > 1 else 16)
