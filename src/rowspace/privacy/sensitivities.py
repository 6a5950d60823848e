"""How far one neighbour step can move a strategy's answers.

Add or remove one record: x moves by ±e_j, the answers by a column a_j; the sensitivity is the largest column
norm Δ. Replace one record: x moves by e_j − e_k, the answers by a_j − a_k; or by ±e_j alone, where one of the two
records is outside the domain (a NULL, an unknown category) and not counted. So the sensitivity is the largest
distance between two columns or Δ, whichever is larger. The maximum over pairs is computed when that is cheap;
otherwise an upper bound is proved, never below Δ:

    L1:  ‖a_j − a_k‖₁ ≤ ‖a_j‖₁ + ‖a_k‖₁ ≤ 2Δ₁                                     (triangle inequality)
    L2:  ‖a_j − a_k‖² = ‖a_j‖² + ‖a_k‖² − 2 a_j·a_k, which is at most 2Δ₂² when no entry is negative
         (then a_j·a_k ≥ 0), and at most 4Δ₂² always (−2 a_j·a_k ≤ 2‖a_j‖‖a_k‖, Cauchy–Schwarz).

Columns that are disjoint (first two) or opposite (third) attain them: norms alone allow no better.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import scipy

from rowspace.exceptions import InvalidInput
from rowspace.operators import Extended, Merged, Operator, Scaled

from .definitions import Privacy
from .units import Neighbours

Vector = npt.NDArray[np.float64]

PAIR_CELLS = 2048
"""Most cells for which all pairs of columns are compared."""

PAIR_ENTRIES = 2**24
"""Most entries of a matrix (128 MiB) whose columns are compared."""

PAIR_WORK = {1: 2**32, 2: 2**36}
"""Most rows × cells² for which pairs are compared, by norm: about two seconds (L2 goes through BLAS)."""

_EXACT = 2**53


def sensitivity(A: Operator, privacy: Privacy) -> float:
    """The sensitivity of A in the norm and for the neighbours of `privacy` (L2: not squared).

    For replace-one it is the largest distance between two columns, or an upper bound when A is large; and never less
    than for add-remove. It is that of one record: a `PrivacyUnit` multiplies the noise (`Privacy.noise`).

    >>> from rowspace import operators as op
    >>> from rowspace.privacy import PureDP
    >>> sensitivity(op.Hierarchy(4), PureDP(1.0)), sensitivity(op.Hierarchy(4), PureDP(1.0, "replace-one"))
    (3.0, 4.0)
    """
    p, A = privacy.norm, _with_distinct_columns(A)
    if privacy.neighbours is Neighbours.ADD_REMOVE:
        return A.max_column_norm(p)
    if A.integral:
        exact = integer_norm(A, privacy)
        return float(exact) if p == 1 else math.sqrt(exact)
    if _pairs_are_affordable(A, p):
        farthest = _farthest_pair(np.ascontiguousarray(A.to_dense().T), p)
        return max(farthest if p == 1 else math.sqrt(farthest), A.max_column_norm(p))
    bound = _bound_from_columns(p, A.nonnegative)
    return A.max_column_norm(p) * (bound if p == 1 else math.sqrt(bound))


def integer_norm(A: Operator, privacy: Privacy) -> int:
    """The largest Σ|change| (norm 1) or Σ change² (norm 2) of the integer answers A·x by one record.

    Guarantees:
        - never below the true maximum, for any integral A (`test_integer_norm_against_brute_force`,
          `test_bounds_hold_when_pairs_are_too_many`);
        - equal to it for add-remove; for replace-one equal to it up to `PAIR_CELLS` cells, `PAIR_WORK` and
          sums below 2⁵¹; otherwise at most 2 or 4 times the add-remove value, as proved above.

    >>> from rowspace import operators as op
    >>> from rowspace.privacy import ZCDP
    >>> integer_norm(op.Identity(4), ZCDP(0.5, "replace-one"))
    2
    """
    if not A.integral:
        raise InvalidInput(
            f"expected an integral operator, got {type(A).__name__} with other entries; "
            "round it first with integer_form()"
        )
    p, A = privacy.norm, _with_distinct_columns(A)
    largest = A.integer_norm(p)
    if privacy.neighbours is Neighbours.ADD_REMOVE:
        return largest
    # Distances are at most 2Δ₁ or 4Δ₂², and so is every partial sum on the way to them (Cauchy–Schwarz), in
    # whatever order: when that is below 2⁵³, floating point computes these integers exactly.
    if _pairs_are_affordable(A, p) and 2 * p * largest < _EXACT:
        columns = np.ascontiguousarray(A.integer_matrix().T, dtype=np.float64)
        return max(int(_farthest_pair(columns, p)), largest)
    bound = _bound_from_columns(p, A.nonnegative) * largest
    known = A.pair_norm(p)  # proved where the structure is
    return bound if known is None else max(largest, min(bound, known))


def _with_distinct_columns(A: Operator) -> Operator:
    """The same columns, fewer times where cells were merged: norms and distances are those of fewer pairs."""
    if isinstance(A, Merged):
        return _with_distinct_columns(A.of)
    if isinstance(A, Extended) and isinstance(A.of, Merged):
        # Two of the cells outside stand for all of them: they are alike.
        distinct = _with_distinct_columns(A.of)
        known = distinct.shape[1]
        more = min(2, A.shape[1] - A.of.shape[1])
        return Extended(distinct, (known + more,), (known,), A.weight)
    return Scaled(A.factor, _with_distinct_columns(A.of)) if isinstance(A, Scaled) else A


def _pairs_are_affordable(A: Operator, p: int) -> bool:
    """Whether all pairs of columns can be compared within the stated limits."""
    m, n = A.shape
    return n <= PAIR_CELLS and m * n <= PAIR_ENTRIES and m * n * n <= PAIR_WORK[p]


def _bound_from_columns(p: int, nonnegative: bool) -> int:
    """The factor from the largest column sum of |a|ᵖ to a bound on a pair's, proved at the top."""
    return 2 if p == 1 or nonnegative else 4


def _farthest_pair(columns: Vector, p: int) -> float:
    """Largest L1 distance (p = 1) or squared L2 distance (p = 2) between two rows of an (n, m) array."""
    if p == 2:
        gram = columns @ columns.T
        squares = np.diagonal(gram)
        return float(np.max(squares[:, None] + squares[None, :] - 2.0 * gram))
    # Blocks against what follows: every pair once, and never the whole n × n matrix.
    block = 64
    return max(
        float(
            scipy.spatial.distance.cdist(columns[start : start + block], columns[start:], "cityblock").max()
        )
        for start in range(0, len(columns), block)
    )
