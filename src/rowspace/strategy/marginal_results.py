"""What the optimizers for marginals share: reading the workload, the bound, and the judged result."""

from __future__ import annotations

import numpy as np

from rowspace.error import noise_level
from rowspace.exceptions import InvalidWorkload
from rowspace.operators import Operator, SubsetOperator
from rowspace.operators.marginal_workload import MarginalWorkload
from rowspace.privacy import Neighbours, Privacy

from .result import Result


def read_marginals(W: Operator) -> MarginalWorkload:
    """The marginals W consists of, or `InvalidWorkload`."""
    workload = MarginalWorkload.of(W)
    if workload is None:
        raise InvalidWorkload(
            "expected a union of marginals: products of Identity and Total over the same attributes; "
            "for other queries use Product or Union"
        )
    if not workload.powers:
        raise InvalidWorkload("expected a workload with at least one non-zero query")
    return workload


def marginals_bound(workload: MarginalWorkload, privacy: Privacy) -> float:
    """The singular value bound in the unit of E, and for replace-one its version on zero-sum vectors (see `bounds`).

    All cells are alike to a workload of marginals, so no other dual weights than equal ones do better: this is the
    dual's optimum, and `Residual` attains it.
    """
    roots = workload.multiplicities * np.sqrt(workload.eigenvalues)
    if privacy.neighbours is Neighbours.REPLACE_ONE:
        # The total is the residual of no attribute, the first of the lattice.
        return float(2.0 * roots[1:].sum() ** 2)
    return float(roots.sum() ** 2)


def judged_on_marginals(
    name: str,
    A: SubsetOperator,
    workload: MarginalWorkload,
    privacy: Privacy,
    *,
    status: str,
    steps: int,
    seconds: float,
) -> Result:
    """A result whose error is computed from the strategy itself; works for astronomically many cells."""
    error = noise_level(A, privacy) * A.trace_of_marginals(workload)
    bound = privacy.unit_variance * marginals_bound(workload, privacy)
    return Result(name, A, error, bound, status, steps, seconds)
