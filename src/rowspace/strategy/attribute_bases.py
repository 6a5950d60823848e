"""Matrices to measure one attribute of a table with under Laplace noise, where more than its cells is asked."""

from __future__ import annotations

from collections.abc import Iterator

from rowspace.exceptions import InvalidInput, TooLarge, UnsupportedWorkload
from rowspace.operators import Operator, Scaled
from rowspace.privacy import Privacy

from .attribute_classes import Kinds, effective
from .hierarchical import Hierarchical
from .p_identity import PIdentity
from .result import Optimizer

_OMEGAS = (0.0, 1.0)
_SEARCHED = 256
_BRANCHINGS = (4, 16)


def based(kinds: Kinds, privacy: Privacy) -> Iterator[Operator]:
    """Candidates of unit sensitivity and full column rank: weighted hierarchies, and p-Identity for moderate sizes."""
    for omega in _OMEGAS:
        W = effective(kinds, omega, ridge=1e-3)
        optimizers: list[Optimizer] = [Hierarchical(_BRANCHINGS)]
        if W.shape[1] <= _SEARCHED:
            optimizers.append(PIdentity(max_steps=100, restarts=0))
        for optimizer in optimizers:
            try:
                A = optimizer.optimize(W, privacy).strategy
            except (TooLarge, UnsupportedWorkload, InvalidInput):
                continue
            if A.full_column_rank:
                yield Scaled.of_product(1 / A.max_column_norm(1), A)
