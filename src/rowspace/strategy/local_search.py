"""Local search from strategies at hand, for what has no optimizer of its own over a few cells.

Under Laplace noise the worst answer, and for records that are replaced the distance of two columns, are maxima without
a gradient at their optima. Powers stand for them, whose exponent grows from one descent to the next (|a| gets a rounded
tip in the same way): log E = log ‖errors‖_k + (2/p)·log ‖Σ|A·step|ᵖ‖_k over the queries and the steps that neighbours
take, e_j and e_j − e_k. Bounded by nothing, it takes any strategy; what is returned is judged exactly.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import scipy

from rowspace.exceptions import InvalidInput, TooLarge
from rowspace.operators import Dense, Operator, Vector
from rowspace.privacy import Neighbours, Privacy

from .column_balls import exactly_supporting
from .result import Result, judged
from .row_space import row_space_factor, workload_gram

STAGES = ((30, 3e-2, 1e-6), (100, 1e-2, 1e-8), (400, 2e-3, 1e-9), (2000, 3e-4, 1e-10))
"""Of each descent: the exponent, the tip of |a|, and the ridge that holds what no query sees."""

MOST_STEPS, LEAST_STEPS, RANDOM_STARTS = 120, 30, 2
"""Steps of a descent: no more, and not worth it with fewer; starts at random beside those that are given."""

FAINT = 3e-3
"""Entries of this size beside the largest may be meant to be zero."""

ASIDE = 0.05
"""How far starts are moved at random: a symmetric one may be a saddle."""

TINY = np.finfo(float).tiny


@dataclass(frozen=True)
class LocalSearch:
    """Descent from each of `starts`, from cells beside their total, and from strategies at random.

    objective: "total", or "max" for the worst answer. work: multiplications that all of it may take, about.

    Guarantees:
        - the error is that of the returned matrix itself, by its own sensitivity (`test_searches_are_judged_exactly`).

    >>> from rowspace import PureDP, operators as op
    >>> replaced = PureDP(2**0.5, "replace-one")
    >>> result = LocalSearch().optimize(op.Identity(2), replaced)   # cells and total have 5.33, cells alone 8
    >>> round(result.total_error, 2)
    4.0
    """

    starts: Sequence[Operator] = ()
    objective: str = "total"
    work: float = 4e9

    def optimize(self, W: Operator, privacy: Privacy, rng: np.random.Generator | None = None) -> Result:
        """The best strategy that any of the searches ended at."""
        started = time.perf_counter()
        rng = np.random.default_rng(0) if rng is None else rng
        n, searches = W.shape[1], len(self.starts) + 2 + RANDOM_STARTS
        steps = self.work / (len(STAGES) * searches * _work(W, privacy, self.objective))
        if steps < LEAST_STEPS:
            raise TooLarge(f"local searches over {n} cells are too much work; allow more")
        task = _Task.of(W, privacy, self.objective)
        # Strategies of tables may count cells that no query sees.
        starts = [start for start in self.starts if start.shape[1] == n and start.shape[0] <= 4 * n]
        own = [start.to_dense() for start in starts]
        own += [np.concatenate((np.eye(n) - shift, np.ones((1, n)))) for shift in (0.0, 1 / n)]
        own += [rng.standard_normal((2 * n, n)) for _ in range(RANDOM_STARTS)]
        moved = [A / np.abs(A).max() + ASIDE * rng.standard_normal(A.shape) for A in own]
        A = min((task.descend(A, int(min(steps, MOST_STEPS))) for A in moved), key=task.error)
        if task.error(A) == np.inf:
            raise InvalidInput("no search ended at a strategy that supports the workload; give other starts")
        return judged(
            "local search",
            Dense(A),
            W,
            privacy,
            status=f"best of {len(own)} descents; more may help",
            steps=len(own),
            seconds=time.perf_counter() - started,
        )


def _work(W: Operator, privacy: Privacy, objective: str) -> int:
    """Multiplications of one step, about: Gram matrix, queries, and under L1 all differences of columns."""
    n = W.shape[1]
    pairs = privacy.neighbours is Neighbours.REPLACE_ONE and privacy.norm == 1
    return 4 * n**3 + (2 * n**4 if pairs else 0) + (W.shape[0] * n**2 if objective == "max" else 0)


@dataclass(frozen=True, eq=False)
class _Task:
    """Queries as rows, whether two columns' distance counts, and the norm it is measured in.

    full: whether the queries tell all of space; differences: of columns, as a matrix (cells × pairs), under L1.
    """

    queries: Vector
    norm: int
    pairs: bool
    worst: bool
    full: bool
    differences: Vector

    @classmethod
    def of(cls, W: Operator, privacy: Privacy, objective: str) -> _Task:
        n, worst = W.shape[1], objective == "max"
        L = row_space_factor(W, workload_gram(W))
        queries = W.to_dense() if worst else L.T
        pairs = privacy.neighbours is Neighbours.REPLACE_ONE
        units = np.eye(n)
        apart = (
            [units[j] - units[k] for j, k in combinations(range(n), 2)] if pairs and privacy.norm == 1 else []
        )
        differences = np.concatenate((units, np.reshape(apart, (-1, n)))).T
        return cls(queries[np.any(queries, axis=1)], privacy.norm, pairs, worst, L.shape[1] == n, differences)

    def descend(self, A: Vector, steps: int) -> Vector:
        """The best of where a descent ends, and of that with faint entries and directions left out."""
        x, shape = A.ravel(), A.shape
        for exponent, tip, ridge in STAGES:
            found = scipy.optimize.minimize(
                self._loss,
                x,
                args=(exponent, tip, 1e-12 if self.full else ridge),
                jac=True,
                method="L-BFGS-B",
                options={"maxiter": steps, "maxcor": 20},
            ).x
            if not np.isfinite(found).all() or not found.any():
                break
            x = found / np.abs(found).max()
        A = x.reshape(shape)
        ends = [A, np.where(np.abs(A) < FAINT, 0.0, A)]
        if not self.full:
            ends = [exactly_supporting(end, self.queries.T) for end in ends]
        best = min(ends, key=self.error)
        return best[np.any(best, axis=1)]

    def error(self, A: Vector) -> float:
        """E, of all queries or of the worst one; infinite where A does not support them."""
        answers = scipy.linalg.lstsq(A.T, self.queries.T, cond=1e-6)[0]
        if np.abs(A.T @ answers - self.queries.T).max() > 1e-8 * np.abs(self.queries).max():
            return float("inf")
        errors = np.einsum("ij,ij->j", answers, answers)
        farthest = self._moved(A, A.T @ A, 0.0)[0].max() ** (2 / self.norm)
        return float(farthest * (errors.max() if self.worst else errors.sum()))

    def _loss(self, x: Vector, exponent: float, tip: float, ridge: float) -> tuple[float, Vector]:
        """log E with powers for maxima, and its gradient."""
        n = self.queries.shape[1]
        A = x.reshape(-1, n)
        gram = A.T @ A
        try:
            factor = scipy.linalg.cho_factor(gram + ridge * np.trace(gram) / n * np.eye(n))
        except (np.linalg.LinAlgError, ValueError):
            return float("inf"), np.zeros_like(x)  # a line search may break down
        half = scipy.linalg.cho_solve(factor, self.queries.T)
        errors = np.maximum(np.einsum("ij,ji->i", self.queries, half), TINY)
        of_queries, shares = _power_mean(errors, exponent if self.worst else 1)
        gradient = -2 * (A @ half) @ (half * (shares / errors)).T
        sums, back = self._moved(A, gram, tip)
        of_moves, shares = _power_mean(np.maximum(sums, TINY), exponent)
        gradient += 2 / self.norm * back(shares / np.maximum(sums, TINY))
        return of_queries + 2 / self.norm * of_moves, gradient.ravel()

    def _moved(self, A: Vector, gram: Vector, tip: float) -> tuple[Vector, Callable[[Vector], Vector]]:
        """Σ|A·step|ᵖ of all steps, and from weights of these sums to the gradient of their sum."""
        if self.norm == 1:
            moved = A @ self.differences
            sizes = np.sqrt(np.square(moved) + tip**2)
            slopes = np.divide(moved, sizes, out=np.zeros_like(moved), where=sizes > 0)
            return sizes.sum(axis=0), lambda weights: (slopes * weights) @ self.differences.T
        squares = np.diagonal(gram)
        if not self.pairs:
            return squares, lambda weights: 2 * A * weights
        # ‖a_j − a_k‖² off the diagonal, ‖a_j‖² on it.
        distances = squares[:, None] + squares - 2 * gram
        np.fill_diagonal(distances, squares)

        def back(weights: Vector) -> Vector:
            apart = weights - np.diag(np.diagonal(weights))
            return np.asarray(2 * A @ (np.diag(np.diagonal(weights) + 2 * apart.sum(axis=0)) - 2 * apart))

        return distances, back


def _power_mean(values: Vector, exponent: float) -> tuple[float, Vector]:
    """log ‖values‖_k, and the share that each has in it."""
    logs = exponent * np.log(values)
    total = scipy.special.logsumexp(logs)
    return float(total / exponent), np.exp(logs - total)
