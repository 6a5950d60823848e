"""Integer strategies nested at random, of every kind that a plan file may hold, with weights that reach past 2⁵³."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from rowspace import operators as op
from rowspace import tables


class Nests:
    """A stream of strategies over few cells; the same seed gives the same ones."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def strategy(self, n: int, depth: int) -> op.Operator:
        """A strategy over n cells, nested at most so deep."""
        if depth == 0:
            return self._leaf(n)
        match self._below(12):
            case 0:
                return op.Stack(*(self.strategy(n, depth - 1) for _ in range(1 + self._below(3))))
            case 1:
                a = self._divisor(n)
                return op.Kronecker(self.strategy(a, depth - 1), self.strategy(n // a, depth - 1))
            case 2:
                return op.Scaled(self._number(), self.strategy(n, depth - 1))
            case 3:
                A = self.strategy(n, depth - 1)
                return op.Weighted(self._numbers(A.shape[0]), A)
            case 4:
                return op.Permuted(self.strategy(n, depth - 1), self.random.permutation(n))
            case 5:
                A = self.strategy(n, depth - 1)
                return op.Composed(self.strategy(A.shape[0], depth - 1), A) if A.shape[0] <= 20 else A
            case 6:
                return op.Transpose(op.Transpose(self.strategy(n, depth - 1)))
            case 7:
                A = self.strategy(n, depth - 1)
                return op.Sum((A, op.Scaled(self._number(), A), op.Scaled(self._number(), A)))
            case 8:
                return self._tables(n, depth)
            case 9 if n > 1:
                groups = self.random.permutation([*range(n - 1), self._below(n - 1)])
                return op.Merged(self.strategy(n - 1, depth - 1), groups)
            case 10:  # 2⁸⁰ + small − 2⁸⁰ in every entry: floating point sees nothing of it
                small = self._numbers(n)
                return op.Composed(
                    op.Dense([[2**40, 1, -(2**40)]]), op.Dense([[2**40] * n, small, [2**40] * n])
                )
        return self._leaf(n)

    def _leaf(self, n: int) -> op.Operator:
        numbers, some = self._numbers, 1 + self._below(3)
        weights = tuple(abs(number) for number in numbers(n.bit_length())) or (1.0,)
        kernel = self.random.integers(-(2**18), 2**18, n + 1)
        match self._below(14):
            case 0:
                return op.UniformGram(n, self._number(), self._number())
            case 1:
                return op.Dense([numbers(n) for _ in range(some)])
            case 2:
                return op.Sparse(np.array([numbers(n) for _ in range(some)]))
            case 3:
                return op.Diagonal(numbers(n))
            case 4:
                return op.PIdentity([w or 1.0 for w in numbers(n)], op.Dense([numbers(n)]))
            case 5:
                return op.SpectralIntegers(op.Sines(n), kernel, self.random.integers(1, 2**20, n))
            case 6:
                return op.SpectralIntegers(op.Cosines(n), kernel[:n], self.random.integers(1, 4, n))
            case 7 if n & (n - 1) == 0 and any(weights):
                return op.Haar(n, weights)
            case 8:
                return op.Tree((np.array([0, n]), np.arange(n + 1)), (weights[0], 1.0))
            case kind:
                plain = (op.Identity, op.Total, op.Prefix, op.Difference, op.Ranges, op.RangesGram)
                more = (op.SecondDifference, op.AllPredicates, op.Hierarchy)
                return (*plain, *more)[kind % 9](n)

    def _tables(self, n: int, depth: int) -> op.Operator:
        a = self._divisor(n)
        sizes = (a, n // a)
        sets = [s for k in range(3) for s in combinations(range(2), k) if self._below(2)] or [()]
        weights = [abs(w) for w in self._numbers(len(sets))]
        weights[0] = weights[0] or 1.0
        kind = self._below(4)
        if kind == 0:
            return tables.Marginals(sizes, sets, weights)
        if kind == 1:
            bases = [op.Identity(1) if s == 1 else self.strategy(s, depth - 1) for s in sizes]
            return tables.Marginals(sizes, sets, weights, bases)
        if 1 in sizes:
            return self._leaf(n)
        if kind == 2:
            return tables.Residuals(sizes, sets, weights)
        contrasts = [
            op.Dense([self._numbers(s) for _ in range(s - 1)]) if self._below(2) else op.CellContrasts(s)
            for s in sizes
        ]
        return tables.Residuals(sizes, sets, weights, contrasts)

    def _number(self) -> float:
        """Mostly small, sometimes zero, sometimes huge."""
        kind = self._below(12)
        if kind == 0:
            return 0.0
        if kind == 1:
            return float((-1) ** self._below(2) * (1 << 10 + self._below(42)) + self._below(5) - 2)
        return float(self._below(9) - 4)

    def _numbers(self, count: int) -> list[float]:
        return [self._number() for _ in range(count)]

    def _divisor(self, n: int) -> int:
        return int(self.random.choice([d for d in range(1, n + 1) if n % d == 0]))

    def _below(self, limit: int) -> int:
        return int(self.random.integers(limit))
