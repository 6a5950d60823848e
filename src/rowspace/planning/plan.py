"""Plan: everything decided before data is touched. It has no method that takes data."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from rowspace.domain import Domain
from rowspace.error import half_widths
from rowspace.exceptions import TooLarge
from rowspace.files import read_archive, write_archive
from rowspace.notebook import one_line
from rowspace.operators import Extended, Operator, Vector
from rowspace.privacy import NoiseModel, Privacy
from rowspace.strategy import Horizon, Measured, Pooled, Strategy, informed
from rowspace.tables import ProductWorkload
from rowspace.workload import Workload

from .candidate import Candidate
from .facts import NOTHING, Known
from .groups import GroupError, group_errors
from .people import check_people, check_values_of_units
from .places import is_over_box, own_cells
from .plan_file import Arrays, encoded, fields_of, require_own_noise
from .population import population
from .remarks import certified, remarks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PLAN_VERSION = 1


@dataclass(frozen=True)
class Plan:
    """A strategy for a workload under a privacy guarantee, with the error it will have and a certificate.

    Attributes
    ----------
    workload: the queries, over the attributes they touch.
    privacy: the guarantee.
    strategy: the integer matrix that will be asked of the data.
    noise: the exact distribution that will be added to each of its answers.
    lower_bound: weighted total error that no integer strategy can go below with the noise drawn for it.
    candidates: what was considered, best first.
    objective: what it was made for, and certified for: "total", or "max" for the worst answer.
    max_lower_bound: squared error that no strategy's worst answer can go below, importance weights aside; for "max".
    places: the attributes whose missing values are counted in cells of their own.
    title: what the study is called, for those who read its answers.
    given: what has been measured before, which its answers are derived from too; `combine` does it.
    over: the attribute whose cells are periods, measured one after the other; empty where all is measured at once.
    known: public facts that its answers keep to.

    Guarantees
    - A plan depends on the domain, the workload and the privacy parameters only, never on data
      (the import contracts in pyproject.toml; tests/test_imports.py).
    - `noise` is calibrated to the exact integer sensitivity of `strategy`; a file that claims less noise is refused
      (tests/planning/test_plan_files.py::test_weakened_noise_is_refused).

    >>> import rowspace as rs
    >>> rs.plan(rs.workload.ranges(rs.Domain(age=rs.Numeric(0, 4, bins=4)), "age"), rs.PureDP(1.0))
    <Plan for 10 queries under 1-differential privacy (add or remove one record)>
    """

    workload: Workload
    privacy: Privacy
    strategy: Operator
    noise: NoiseModel
    lower_bound: float
    candidates: tuple[Candidate, ...]
    objective: str = "total"
    max_lower_bound: float = 0.0
    places: frozenset[str] = frozenset()
    title: str = ""
    given: tuple[Measured, ...] = ()
    over: str = ""
    known: Known = NOTHING

    def __post_init__(self) -> None:
        check_people(self.workload, [self.privacy.unit])
        check_values_of_units(self.workload.domain, self.privacy.unit)

    @cached_property
    def domain(self) -> Domain:
        """The attributes that must be counted, with places for missing values."""
        return self.workload.domain.with_places(self.places)

    @property
    def horizon(self) -> Horizon | None:
        """Where time is among the cells that are counted; None unless the plan is over periods."""
        return Horizon(self.domain.shape, self.domain.position(self.over)) if self.over else None

    @cached_property
    def counted(self) -> Workload:
        """The workload over the cells that are counted."""
        return self.workload.over(self.domain)

    @property
    def population(self) -> str:
        """Which records are left out of all answers, in words; empty where every record is counted.

        >>> import rowspace as rs
        >>> domain = rs.Domain(age=rs.Numeric(0, 4, bins=4, outside="drop"))
        >>> rs.plan(rs.workload.total(domain), rs.PureDP(1.0)).population
        'Records whose age is outside [0, 4) or missing are not counted.'
        """
        return population(self.domain, [self.privacy.unit])

    @cached_property
    def total_error(self) -> float:
        """Expected squared error summed over the workload, each query times its squared importance weight."""
        strategy, queries = self._asked(self.workload)
        return self._variance * strategy.trace(queries)

    @cached_property
    def ratio(self) -> float:
        """How far from the best possible this plan is, at most, in what it was made for; at least 1.

        total_error / lower_bound or, for the worst answer, max_error / max_lower_bound.
        """
        if self.objective == "total":
            return max(1.0, self.total_error / self.lower_bound) if self.lower_bound > 0 else inf
        try:
            return max(1.0, self.max_error / self.max_lower_bound) if self.max_lower_bound > 0 else inf
        except TooLarge:
            return inf

    @cached_property
    def rmse(self) -> float:
        """Root of the mean expected squared error of an answer, importance weights aside: `error_unit` says in what."""
        strategy, queries = self._alike
        return sqrt(self._variance * strategy.trace(queries) / self.workload.size)

    @property
    def error_unit(self) -> str:
        """What errors of counts and sums together are in, in words."""
        return "in counts, of sums in units of the largest value" if self.domain.measures else "in counts"

    @cached_property
    def max_error(self) -> float:
        """The largest expected squared error of any answer; `TooLarge` when there are too many to look at.

        Sums are in units of the largest value, as in `rmse`.
        """
        if self.domain.measures:
            strategy, queries = self._alike
            powers = np.repeat(queries.powers, queries.sizes_of_parts)
            return float(self._variance * (powers * strategy.variances(queries)).max())
        worst = [group.largest_std_error for group in self.group_errors()]
        known = [largest for largest in worst if largest is not None]
        if len(known) < len(worst):
            raise TooLarge("there are too many queries to look for the worst; see plan.group_errors()")
        return max(known) ** 2

    def query_errors(self) -> Vector:
        """Expected squared error of every answer, in the order of the workload.

        >>> from rowspace.sample import small_release
        >>> plan = small_release().plan
        >>> len(plan.query_errors()) == plan.workload.size
        True
        """
        strategy, queries = self._asked(self.workload)
        return self._variance * strategy.variances(queries)

    def error_bars(self, level: float = 0.95, queries: Workload | None = None) -> tuple[Vector, Vector]:
        """(standard errors, half-widths of confidence intervals) of the answers, known before any is drawn.

        level: the confidence level of the intervals.
        queries: other queries than the plan's own.

        >>> from rowspace.sample import small_release
        >>> plan = small_release(1.0).plan
        >>> std_errors, half_widths = plan.error_bars(level=0.99)
        >>> bool((std_errors < half_widths).all())
        True
        """
        strategy, asked = self._asked(queries or self.workload)
        if self.given:
            return self._pooled.error_bars(asked, level)
        parts = strategy.moments(asked)
        return np.sqrt(self.noise.variance * parts.second), half_widths(parts, self.noise, level)

    def group_errors(self) -> list[GroupError]:
        """Expected error of every group of queries, groups of one name together, in the order of the workload.

        >>> from rowspace.sample import small_release
        >>> [group.group for group in small_release().plan.group_errors()]
        ['age × sex', 'ranges of age']
        """
        return list(self._group_errors)

    @cached_property
    def _group_errors(self) -> tuple[GroupError, ...]:
        strategy, queries = self.asked
        names = [part.group for part in self.workload.parts]
        return tuple(group_errors(strategy, self._variance, queries, names))

    @cached_property
    def asked(self) -> tuple[Strategy, ProductWorkload]:
        """The strategy, and the plan's own queries as it is asked them.

        >>> from rowspace.sample import small_release
        >>> strategy, queries = small_release().plan.asked
        >>> queries.queries
        18
        """
        return self._asked(self.workload)

    def _asked(self, queries: Workload) -> tuple[Strategy, ProductWorkload]:
        """The strategy and the queries it is asked.

        Queries that do not see the cells measured beside a strategy are asked of the strategy itself.
        """
        A = self.strategy
        queries = self.counted if queries is self.workload else queries.over(self.domain)
        if self.given:
            return self._pooled.strategy, queries.products()
        if self.known:
            return self.informed, queries.products()
        if isinstance(A, Extended) and is_over_box(A, self.domain):
            own = own_cells(A, self.domain)
            if self.domain.places - own.places <= queries.unseen:
                A, queries = A.of, queries.over(own)
        return Strategy.of(A), queries.products()

    @property
    def _alike(self) -> tuple[Strategy, ProductWorkload]:
        """The strategy and the queries it is asked, all equally important."""
        if self.domain.measures:
            return self._asked(self.workload.alike)
        strategy, queries = self._asked(self.workload)
        return strategy, queries.unweighted()

    @cached_property
    def _pooled(self) -> Pooled:
        """The strategy beside what was measured before."""
        return Pooled.of([Measured.of(self.strategy, self.noise), *self.given])

    @cached_property
    def informed(self) -> Strategy:
        """The strategy, whose answers keep to what is known."""
        strategy = Strategy.of(self.strategy)
        if not self.known:
            return strategy
        asked = self.counted.products()
        sets = {tuple(sorted(asked.axes_of(part))) for part in asked.parts}
        return informed(strategy, self.known.over(self.domain), sorted(sets))

    @property
    def _variance(self) -> float:
        """The variance of the noise on what `_asked` returns."""
        return self._pooled.variance if self.given else self.noise.variance

    def plot(self, ax: Axes | None = None) -> Axes:
        """What was considered, best on top, against the bound that no strategy can beat.

        ax: matplotlib axes to draw on; new ones unless given.

        >>> from rowspace.sample import small_release
        >>> type(small_release().plan.plot()).__name__
        'Axes'
        """
        from .plots import plot_candidates

        return plot_candidates(self, ax)

    def plot_groups(self, ax: Axes | None = None) -> Axes:
        """Expected error of every group of queries.

        ax: matplotlib axes to draw on; new ones unless given.

        >>> from rowspace.sample import small_release
        >>> type(small_release().plan.plot_groups()).__name__
        'Axes'
        """
        from .plots import plot_groups

        return plot_groups(self, ax)

    def plot_what_if(self, parameters: Sequence[float] | None = None, ax: Axes | None = None) -> Axes:
        """Expected error at other values of ε (or ρ).

        parameters: the values of ε (or ρ); a range around the plan's own unless given.
        ax: matplotlib axes to draw on; new ones unless given.

        >>> from rowspace.sample import small_release
        >>> type(small_release().plan.plot_what_if([0.5, 1.0])).__name__
        'Axes'
        """
        from .plots import plot_what_if

        return plot_what_if(self, parameters, ax)

    def __repr__(self) -> str:
        return one_line(f"<Plan for {self.workload.size:,} queries under {self.privacy}>")

    def _repr_html_(self) -> str:
        from .display import plan_html

        return plan_html(self)

    def __str__(self) -> str:
        from .display import plan_text

        return plan_text(self)

    @property
    def certificate(self) -> str:
        """How close to the best possible in what the plan was made for, in words."""
        return certified(self.ratio, self.objective)

    @cached_property
    def remarks(self) -> tuple[str, ...]:
        """What must be known about the figures, in sentences: where the bound is loose, where noise is nearly always 0.

        >>> import rowspace as rs
        >>> domain = rs.Domain(age=rs.Numeric(0, 4, bins=4, outside="drop"))
        >>> print(*rs.plan(rs.workload.total(domain), rs.PureDP(50.0)).remarks)
        The noise is nearly always 0 at this budget: at most one in 2.6e+21 of the numbers that are asked gets any...
        """
        return remarks(self)

    def to_dict(self) -> dict[str, Any]:
        """The figures, JSON-safe, for reports and machines.

        >>> from rowspace.sample import small_release
        >>> small_release().plan.to_dict()["queries"]
        18
        """
        from .display import plan_figures

        return plan_figures(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a plan file; it reloads to the same strategy bit for bit.

        path: where to write; by custom it ends in .plan.

        >>> from rowspace.sample import small_release
        >>> plan = small_release().plan
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     plan.save(folder + "/small.plan")
        ...     same = Plan.load(folder + "/small.plan")
        >>> same.strategy == plan.strategy
        True
        """
        body, arrays = self.encode()
        write_archive(path, "rowspace plan", PLAN_VERSION, body, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Plan:
        """Read a plan file, trusting nothing in it: the noise is checked against the strategy's own sensitivity.

        path: a file that `save` or the command line wrote.

        >>> from rowspace.sample import small_release
        >>> plan = small_release().plan
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     plan.save(folder + "/small.plan")
        ...     same = Plan.load(folder + "/small.plan")
        >>> same.strategy == plan.strategy
        True
        """
        body, arrays = read_archive(path, "rowspace plan", PLAN_VERSION)
        return cls.decode(body, arrays)

    def encode(self) -> tuple[dict[str, Any], Arrays]:
        """A JSON-safe description and the arrays it refers to.

        >>> from rowspace.sample import small_release
        >>> plan = small_release().plan
        >>> Plan.decode(*plan.encode()).noise == plan.noise
        True
        """
        return encoded(self)

    @classmethod
    def decode(cls, body: dict[str, Any], arrays: Arrays) -> Plan:
        """The plan that `encode` described; a `FileError` for anything else.

        body, arrays: what `encode` returned.

        >>> from rowspace.sample import small_release
        >>> plan = small_release().plan
        >>> Plan.decode(*plan.encode()).noise == plan.noise
        True
        """
        plan = cls(**fields_of(body, arrays))
        require_own_noise(plan, body)
        return plan
