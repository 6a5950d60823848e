"""Random worlds: a domain, a raw table, a workload and two releases of it, one with hardly any noise.

Every number follows from the world's own, so a failure is repeated by its number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import islice

import numpy as np
import pandas as pd

import rowspace as rs
from rowspace import operators as op
from rowspace import tables
from rowspace.domain import Categorical, Domain, Numeric
from rowspace.operators.base import Operator
from rowspace.privacy import Privacy
from rowspace.releases.combined import Combined
from rowspace.sources import count_cells
from rowspace.strategy import noisy_values

from .questions import (
    Count,
    Question,
    Rows,
    Table,
    random_condition,
    random_family,
    random_question,
    random_rows,
    random_table,
)

NULLS = True
"""Whether raw tables hold NULLs and values that their attribute does not know."""

NAMES = ("age", "low", "answer", "rank", "region", "job title", "group", "Count")
"""Some are the library's own words for columns of its tables, some need quotes."""

LEVELS = ("zone", "std_error")


def random_domain(rng: np.random.Generator, *, attributes: int | None = None) -> Domain:
    """Numbers and categories of every sort, few cells."""
    number = int(rng.integers(2, 5)) if attributes is None else attributes
    names = rng.permutation(NAMES)[:number].tolist()
    levels = iter(rng.permutation(LEVELS).tolist())
    return Domain({name: _attribute(rng, levels) for name in names})


def _attribute(rng: np.random.Generator, levels: object) -> Numeric | Categorical:
    if rng.random() < 0.5:
        outside = str(rng.choice(["clip", "missing"]))
        if rng.random() < 0.5:
            steps = rng.integers(1, 4, int(rng.integers(2, 7)))
            edges = np.cumsum([int(rng.integers(-5, 20)), *steps])
            return Numeric(edges=edges.tolist(), outside=outside, integer=bool(rng.random() < 0.7))
        bins = int(rng.integers(2, 7))
        return Numeric(0, bins * 0.5, bins=bins, outside=outside)
    kind = int(rng.integers(3))
    values = (["a", "b'", 'c"', "total", ""], [3, 1, 2, 7], [True, False])[kind]
    chosen = rng.permutation(np.array(values, dtype=object)).tolist()[: int(rng.integers(2, 5))]
    other = "the rest" if kind < 2 and rng.random() < 0.3 else None
    level = next(levels, None) if kind == 0 and rng.random() < 0.7 else None  # type: ignore[call-overload]
    north = rng.random(len(chosen)) < 0.5
    north[:2] = [True, False]
    mapping = dict(zip(chosen, np.where(north, "north", "south").tolist(), strict=True))
    return Categorical(chosen, other=other, levels=None if level is None else {level: mapping})


def random_table_of(domain: Domain, rng: np.random.Generator, records: int) -> pd.DataFrame:
    """Raw records, some cells far fuller than others, with a column that nobody asks about."""
    columns: dict[str, object] = {}
    for name, attribute in domain.attributes:
        columns[name] = _values(attribute, rng, records)
    columns["of no interest"] = rng.integers(0, 9, records)
    return pd.DataFrame(columns)


def _values(attribute: Numeric | Categorical, rng: np.random.Generator, records: int) -> list[object]:
    if isinstance(attribute, Numeric):
        spread = attribute.high - attribute.low
        wide = 0.3 if attribute.outside == "clip" or NULLS else 0.0
        drawn = attribute.low + spread * (rng.beta(1.2, 2.5, records) * (1 + 2 * wide) - wide)
        drawn = np.floor(drawn) if attribute.integer else np.round(drawn, 3)
        # Rounding may carry a number to the last edge, which is outside.
        found = np.where(drawn >= attribute.high, attribute.low, drawn) if not wide else drawn
        values: list[object] = found.tolist()
    else:
        listed: list[object] = list(attribute.values)
        if attribute.other is not None or (NULLS and attribute.type is not bool):
            listed.append({str: "unheard of", int: 77}[attribute.type])
        shares = rng.dirichlet(np.ones(len(listed)))
        values = [listed[at] for at in rng.choice(len(listed), records, p=shares)]
    if NULLS:
        values = [None if rng.random() < 0.1 else value for value in values]
    return values


def random_workload(
    domain: Domain, rng: np.random.Generator, number: int
) -> tuple[list[Question], rs.Workload]:
    """Queries of every family, with weights, and what each part asks."""
    makers: list[Callable[[], Question]] = [
        lambda: random_table(domain, rng, where=False),
        lambda: random_table(domain, rng, where=False),
        lambda: random_family(domain, rng),
        lambda: Count(domain, random_condition(domain, rng)),
        lambda: random_rows(domain, rng),
    ]
    asked = [makers[int(rng.integers(len(makers)))]() for _ in range(number)]
    weights = rng.choice([1.0, 0.25, 3.0], number).tolist()
    parts = [weight * _written(question, rng) for question, weight in zip(asked, weights, strict=True)]
    return asked, sum(parts[1:], parts[0])


def _written(question: Question, rng: np.random.Generator) -> rs.Workload:
    """As a workload, or in SQL where it can be."""
    if isinstance(question, Count | Table) and rng.random() < 0.3:
        return rs.workload.sql(question.domain, question.sql)
    return question.workload()


Strategies = Callable[[rs.Workload, Privacy, np.random.Generator], "Operator | None"]


def _factor(n: int, rng: np.random.Generator) -> Operator:
    return (op.Identity(n), op.Hierarchy(n), op.Prefix(n))[int(rng.integers(3))]


def _dense(workload: rs.Workload, privacy: Privacy, rng: np.random.Generator) -> Operator:
    n = workload.domain.size
    return op.Dense(np.vstack([np.eye(n), rng.integers(0, 3, (5, n))]))


def _kronecker(workload: rs.Workload, privacy: Privacy, rng: np.random.Generator) -> Operator:
    return op.Kronecker(*(_factor(n, rng) for n in workload.domain.shape), op.Identity(1))


def _p_identity(workload: rs.Workload, privacy: Privacy, rng: np.random.Generator) -> Operator:
    return op.PIdentity.normalized(rng.random((2, workload.domain.size)))


def _merged(workload: rs.Workload, privacy: Privacy, rng: np.random.Generator) -> Operator:
    """One cell for all that no query tells apart."""
    columns, groups = np.unique(workload.weighted_operator().to_dense(), axis=1, return_inverse=True)
    return op.Merged(op.Identity(columns.shape[1]), groups)


def _product_marginals(workload: rs.Workload, privacy: Privacy, rng: np.random.Generator) -> Operator:
    """The tables that are asked for, each attribute by a strategy of its own."""
    sizes, position = workload.domain.shape, workload.domain.position
    sets = sorted({tuple(map(position, part.attributes)) for part in workload.parts})
    bases = tuple(_factor(n, rng) for n in sizes)
    return tables.Marginals(sizes, tuple(sets), tuple([1] * len(sets)), bases)


def _spectral(workload: rs.Workload, privacy: Privacy, rng: np.random.Generator) -> Operator:
    waves = op.Cosines(workload.domain.size)
    kernel = np.zeros(waves.kernel_size, np.int64)
    kernel[:3] = [9, 2, 1][: len(kernel)]
    return op.SpectralIntegers(waves, kernel, rng.integers(1, 4, workload.domain.size))


def _tables(workload: rs.Workload, privacy: Privacy, rng: np.random.Generator) -> Operator:
    search = rs.strategy.Marginals() if privacy.norm == 1 else rs.strategy.Residual()
    return search.optimize(workload.products(), privacy, rng).strategy


STRATEGIES: dict[str, tuple[Strategies, bool]] = {
    "chosen": (lambda w, p, r: None, False),
    "dense": (_dense, False),
    "kronecker": (_kronecker, False),
    "p-identity": (_p_identity, False),
    "hierarchy": (lambda w, p, r: op.Hierarchy(w.domain.size), False),
    "spectral": (_spectral, True),
    "stacked": (lambda w, p, r: op.Stack(op.Total(w.domain.size), 2 * op.Identity(w.domain.size)), False),
    "tables, Laplace": (_tables, False),
    "tables, Gaussian": (_tables, True),
    "product tables, Laplace": (_product_marginals, False),
    "product tables, Gaussian": (_tables, True),
    "chosen, Gaussian": (lambda w, p, r: None, True),
    "merged": (_merged, False),
}
"""How each kind of strategy is found, and whether its noise must be Gaussian."""


@dataclass(frozen=True, eq=False)
class Reference:
    """What a release says by plain linear algebra on dense matrices: x̂ = A⁺y, and the noise of q·x̂."""

    measured: tuple[tuple[np.ndarray, np.ndarray, float], ...]

    @cached_property
    def _inverse(self) -> np.ndarray:
        return np.linalg.pinv(np.vstack([A / np.sqrt(v) for A, _, v in self.measured]), rcond=1e-10)

    @cached_property
    def estimate(self) -> np.ndarray:
        """x̂."""
        return self._inverse @ np.concatenate([y / np.sqrt(v) for _, y, v in self.measured])

    def supports(self, rows: np.ndarray) -> bool:
        """Whether all rows follow from what was measured."""
        A = np.vstack([A / np.sqrt(v) for A, _, v in self.measured])
        return bool(np.abs(rows @ self._inverse @ A - rows).max(initial=0) < 1e-6)

    def answer(self, rows: np.ndarray) -> np.ndarray:
        """q·x̂."""
        return rows @ self.estimate

    def std_error(self, rows: np.ndarray) -> np.ndarray:
        """The standard deviation of q·x̂."""
        return np.linalg.norm(rows @ self._inverse, axis=1)

    @classmethod
    def of(cls, *releases: rs.Release) -> Reference:
        """That of releases together."""
        return cls(
            tuple(
                (
                    r.plan.strategy.to_dense(),
                    noisy_values(r.plan.strategy, r.noisy_answers),
                    max(r.plan.noise.variance, 1e-30),
                )
                for r in releases
            )
        )


@dataclass(frozen=True, eq=False)
class World:
    """A raw table and what was released of it."""

    number: int
    kind: str
    raw: pd.DataFrame
    parts: list[Question]
    noisy: rs.Release
    quiet: rs.Release

    @property
    def domain(self) -> Domain:
        """The attributes that were measured."""
        return self.noisy.plan.domain

    @cached_property
    def combined(self) -> Combined:
        """The noisy release beside another one, of another strategy."""
        other = rs.plan(rs.workload.identity(self.domain, missing=True), rs.ZCDP(0.2), effort="fast")
        return self.noisy.combine(rs.release(other, count_cells(self.raw, self.domain)))

    def questions(self, number: int) -> list[Question]:
        """Random questions that were measured finely enough."""
        rng = np.random.default_rng([self.number, 1])
        reference = Reference.of(self.noisy)
        drawn = (random_question(self.domain, rng) for _ in range(40 * number))
        # Where hardly anything was measured, its own queries are what can be asked.
        return list(islice((q for q in drawn if reference.supports(q.cells)), number)) or self.parts

    def unmeasured(self, number: int, release: rs.Release) -> list[Question]:
        """Random questions that were not: with hardly any noise the plan is another one, often all cells."""
        rng = np.random.default_rng([self.number, 2])
        reference = Reference.of(release)
        drawn = (random_question(self.domain, rng) for _ in range(10 * number))
        return list(islice((q for q in drawn if not reference.supports(q.cells)), number))


@lru_cache(maxsize=16)
def world(number: int) -> World:
    """World number so-and-so; kinds of strategies take turns."""
    rng = np.random.default_rng([number, 0])
    kind = list(STRATEGIES)[number % len(STRATEGIES)]
    find, gaussian = STRATEGIES[kind]
    declared = random_domain(rng)
    while declared.size > 400:
        declared = random_domain(rng)
    asked, queries = random_workload(declared, rng, int(rng.integers(2, 5)))
    if kind == "merged":
        asked = [Count(declared, random_condition(declared, rng, 1)) for _ in range(2)]
        queries = sum((q.workload() for q in asked[1:]), asked[0].workload())
    if kind.startswith("product"):
        asked = [
            random_family(declared, rng),
            random_family(declared, rng),
            random_table(declared, rng, where=False),
        ]
        queries = sum((q.workload() for q in asked[1:]), asked[0].workload())
    reduced = queries.reduced()
    reduced = reduced.over(reduced.domain.with_places())
    loud: list[Privacy] = [rs.ZCDP(0.1), rs.ApproxDP(1.0, 1e-6)] if gaussian else [rs.PureDP(0.5)]
    noisy_privacy = loud[int(rng.integers(len(loud)))]
    quiet_privacy = rs.ZCDP(1e10) if gaussian else rs.PureDP(1e7)
    raw = random_table_of(declared, rng, int(rng.integers(80, 400)))
    made = []
    for privacy in (noisy_privacy, quiet_privacy):
        strategy = find(reduced, privacy, np.random.default_rng(number))
        plan = rs.plan(queries, privacy, effort="fast", strategy=strategy, rng=np.random.default_rng(number))
        made.append(rs.release(plan, raw))
    return World(number, kind, raw, [_over(q, made[0].plan.domain) for q in asked], *made)


def _over(question: Question, domain: Domain) -> Question:
    """The same question over the attributes that were measured; rows of cells are about all of them already."""
    if isinstance(question, Rows):
        # No row sees a place that was not declared.
        sizes = [(0, new - old) for new, old in zip(domain.shape, question.domain.shape, strict=True)]
        rows = question.matrix.reshape(-1, *question.domain.shape)
        return Rows(domain, np.pad(rows, [(0, 0), *sizes]).reshape(len(rows), -1))
    return question if domain == question.domain else replace(question, domain=domain)
