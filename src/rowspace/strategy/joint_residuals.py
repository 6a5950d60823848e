"""Joint matrices for residuals: Gaussian strategies for queries that tie attributes together.

Let J be the sets below the tied parts. The rows for S ∈ J are functions F_S = O_S + Σ_{R⊊S} N_{S,R} O_R of the cells of
its table: O_S spans what the queries say about S beyond smaller tables, and N_S is free (see `tables.residuals`).
Queries with coefficients c are taken apart from the largest set to the smallest, c_R ← c_R − c_S N_{S,R}. Then S has to
answer V_S = Σ c_Sᵗc_S, and the best matrix for it is the Gaussian optimum with the cells of the table as columns:

    √κ_S = max over λ of tr(V_S^½ M V_S^½)^½,  M = F_S Λ F_Sᵗ,        A_S = s^(−½) Uᵗ V_S^½ F_S,

with U and s² the eigenvectors and eigenvalues of V_S^½ M V_S^½. With noise for every set as it deserves, the error is
(Σ √κ_S)². N = 0 is one matrix per residual; the derivatives by V_S and F_S, at the best λ, are X⁻¹/2 and XF_SΛ with
X = V_S^½ U s⁻¹ Uᵗ V_S^½, so N is found by L-BFGS. Nothing here is larger than the tables of J.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from math import prod

import numpy as np
import scipy

from rowspace.exceptions import TooLarge
from rowspace.operators import Dense, Operator, Vector
from rowspace.tables import ProductWorkload

from .joint_cells import Solved, solve_cells
from .joint_parts import Attributes, Frame, JointPart, read_part, subsets, table_of

SCALE = 2.0**20
"""What the rows of joint matrices, with entries up to 1, are multiplied with before they are rounded."""

RIDGE = 1e-12
"""Share of all that is asked that is added to every V_S: the square of what rounding may leave."""

MOST_SETS = 2**12
"""Most sets in J."""

LITTLE_WORK, MOST_WORK = 7e9, 3e11
"""Floating-point operations of the search for N up to which it may take more steps, and fewer: seconds, minutes."""

STEPS, MOST_STEPS = 15, 60
"""Steps of L-BFGS, usually and where they are little work; each looks at N once or twice."""

COARSE, FINE = (1e-3, 4), (1e-5, 7)
"""The gap at which the dual of a set ends, and the digits in which sets must agree to be solved as one: in the search,
and for what it has found."""


class Joint:
    """The tables of J, the coefficients of all parts on them, and N."""

    def __init__(
        self, workload: ProductWorkload, tied: set[Attributes], shares: Mapping[int, Vector]
    ) -> None:
        """For the sets `tied`; of attributes that are in none `shares` says what a cell is of the total."""
        if len(tied) > MOST_SETS:
            raise TooLarge("queries tie too many sets of attributes together")
        self.sizes = workload.sizes
        parts = [read_part(workload, k, shares) for k in range(len(workload.parts))]
        frames = {i: Frame(np.full(n, 1 / n)) for i, n in enumerate(self.sizes)}
        asked: dict[Attributes, list[tuple[JointPart, Vector]]] = {own: [] for own in tied}
        coefficients = []
        for part in parts:
            found = {own: c for own, c in part.coefficients(frames).items() if own in tied and c.size}
            coefficients.append(found)
            for own, c in found.items():
                asked[own].append((part, c))
        ordered = sorted(tied, key=lambda own: (-len(own), own))
        made = {own: table_of(own, self.sizes, asked[own], frames) for own in ordered}
        self.tables = {own: table for own, table in made.items() if table is not None}
        for own, table in self.tables.items():
            table.smaller = [R for R in subsets(own)[1:] if R in self.tables]
        self.coefficients = self._gathered(coefficients)

    def _gathered(self, found: list[dict[Attributes, Vector]]) -> list[tuple[list[Attributes], Vector]]:
        """(sets, coefficients on their O, side by side), one entry for parts over the same sets, few rows each."""
        rows: dict[tuple[Attributes, ...], list[Vector]] = {}
        for own in found:
            sets = tuple(S for S in own if S in self.tables)
            if sets:
                c = np.concatenate([own[S] @ self.tables[S].basis.T for S in sets], axis=1)
                rows.setdefault(sets, []).append(c)
        out = []
        for sets, parts in rows.items():
            c = np.concatenate(parts)
            few = np.asarray(np.linalg.qr(c, mode="r")) if len(c) > c.shape[1] else c
            out.append((list(sets), few))
        return out

    @cached_property
    def places(self) -> dict[Attributes, slice]:
        """Where N_S lies among all numbers that are searched for."""
        found, start = {}, 0
        for own, table in self.tables.items():
            size = len(table.basis) * sum(len(self.tables[R].basis) for R in table.smaller)
            found[own] = slice(start, start + size)
            start += size
        return found

    @cached_property
    def lifted(self) -> dict[Attributes, Vector]:
        """O_R of all smaller sets on the cells of every table."""
        found = {}
        for own, table in self.tables.items():
            rows = [np.empty((0, prod(table.sizes)))]
            for R in table.smaller:
                shape = [n if i in R else 1 for i, n in zip(own, table.sizes, strict=True)]
                own_rows = self.tables[R].functions
                wide = own_rows.reshape(-1, *shape) * np.ones(table.sizes)
                rows.append(wide.reshape(len(own_rows), -1))
            found[own] = np.concatenate(rows)
        return found

    def mixed(self, numbers: Vector) -> dict[Attributes, Vector]:
        """N_S for every set."""
        return {own: numbers[self.places[own]].reshape(len(t.basis), -1) for own, t in self.tables.items()}

    def apart(self, N: Mapping[Attributes, Vector]) -> list[dict[Attributes, Vector]]:
        """The coefficients of every part after all larger sets have answered what they can."""
        out = []
        for sets, c in self.coefficients:
            ends = np.cumsum([len(self.tables[S].basis) for S in sets])[:-1]
            own = {S: block.copy() for S, block in zip(sets, np.split(c, ends, axis=1), strict=True)}
            for S in sets:
                for R, block in zip(self.tables[S].smaller, self._split(S, own[S] @ N[S]), strict=True):
                    own[R] -= block
            out.append(own)
        return out

    def _split(self, S: Attributes, columns: Vector) -> list[Vector]:
        ends = np.cumsum([len(self.tables[R].basis) for R in self.tables[S].smaller])[:-1]
        return np.split(columns, ends, axis=1) if self.tables[S].smaller else []

    def grams(self, apart: list[dict[Attributes, Vector]]) -> dict[Attributes, Vector]:
        """V_S, and a little of everything: what rounding leaves of larger sets must not meet next to no measurement."""
        V = {own: np.zeros((len(t.basis), len(t.basis))) for own, t in self.tables.items()}
        for part in apart:
            for S, c in part.items():
                V[S] += c.T @ c
        little = RIDGE * sum(float(np.trace(own)) for own in V.values())
        return {S: own + little * np.eye(len(own)) for S, own in V.items()}

    def solved(
        self, N: Mapping[Attributes, Vector], V: Mapping[Attributes, Vector], gap: float, digits: int
    ) -> dict[Attributes, Solved]:
        """The Gaussian optimum of every set; sets that are alike are solved once."""
        known: dict[object, Solved] = {}
        found = {}
        for own, table in self.tables.items():
            F = table.functions + N[own] @ self.lifted[own]
            shape = V[own] / np.trace(V[own])
            key = (F.shape, *(np.asarray(np.round(own, digits) + 0.0).tobytes() for own in (shape, F)))
            if key not in known:
                known[key] = solve_cells(V[own], F, table.weights, gap)
            found[own] = known[key]
            table.weights = known[key].weights
        return found

    def descent(self, numbers: Vector, rest: float) -> tuple[float, Vector]:
        """log (Σ √κ + rest) and its gradient."""
        N = self.mixed(numbers)
        apart = self.apart(N)
        solved = self.solved(N, self.grams(apart), *COARSE)
        total = rest + sum(own.bound for own in solved.values())
        by_N = {S: own.by_functions @ self.lifted[S].T for S, own in solved.items()}
        for part in apart:
            by_c = {S: c @ solved[S].by_gram for S, c in part.items()}
            for S in reversed(part):
                if smaller := self.tables[S].smaller:
                    below = np.concatenate([by_c[R] for R in smaller], axis=1)
                    by_N[S] = by_N[S] - part[S].T @ below
                    by_c[S] -= below @ N[S].T
        gradient = np.concatenate([by_N[S].ravel() for S in self.tables])
        return float(np.log(total)), gradient / total

    def search(self, rest: float) -> dict[Attributes, tuple[Operator, float]]:
        """(joint matrix, √κ) for every set; `rest` is what all other sets add to the sum."""
        work = sum(60 * len(t.basis) ** 2 * (prod(t.sizes) + 10 * len(t.basis)) for t in self.tables.values())
        numbers = np.zeros(sum(where.stop - where.start for where in self.places.values()))
        steps = min(max(STEPS, int(LITTLE_WORK / (2 * work))), MOST_STEPS, int(MOST_WORK / (2 * work)))
        if len(numbers) and steps:
            numbers = scipy.optimize.minimize(
                self.descent,
                numbers,
                args=(rest,),
                jac=True,
                method="L-BFGS-B",
                options={"maxiter": steps, "maxfun": 2 * steps},
            ).x
        N = self.mixed(numbers)
        solved = self.solved(N, self.grams(self.apart(N)), *FINE)
        self.roots = {S: own.root for S, own in solved.items()}
        return {S: (self._integers(S, own, N[S]), own.root) for S, own in solved.items()}

    def _integers(self, S: Attributes, found: Solved, N: Vector) -> Operator:
        """The rows as whole multiples of Q_R, R ⊆ S: so the sets together still answer all queries exactly."""
        sets = [S, *self.tables[S].smaller]
        c = dict(zip(sets, [found.mixing, *self._split(S, found.mixing @ N)], strict=True))
        total = np.zeros((len(found.mixing), *self.tables[S].sizes))
        for R in sets:
            own = self.tables[R]
            shares = np.linalg.solve(own.mixing.T, c[R].T).T
            for smaller, part in zip(
                own.smaller, self._split(R, own.integers @ self.lifted[R].T), strict=True
            ):
                c[smaller] = c[smaller] - shares @ part / prod(own.sizes)
            shape = [n if i in R else 1 for i, n in zip(S, self.tables[S].sizes, strict=True)]
            total += (np.rint(SCALE * shares) @ own.integers).reshape(-1, *shape)
        return Dense(total.reshape(len(total), -1))

    def cell_weights(self) -> dict[int, Vector]:
        """Weights for the cells of every attribute: those of its tables, each as much as its √κ."""
        found: dict[int, Vector] = {}
        for S, table in self.tables.items():
            for place, i in enumerate(S):
                others = tuple(k for k in range(len(S)) if k != place)
                own = table.weights.reshape(table.sizes).sum(axis=others)
                found[i] = found.get(i, 0.0) + self.roots[S] * own
        return {i: total / total.sum() for i, total in found.items()}
