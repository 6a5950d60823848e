"""Tables of answers: labels and figures as columns, where intervals end, in portions, with the notes that go along."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from rowspace.domain import Domain
from rowspace.operators import Vector
from rowspace.planning import interval_words, summed_values
from rowspace.workload import Part, Workload

if TYPE_CHECKING:
    import pandas as pd


def answer_columns(labels: Mapping[str, Any], figures: Mapping[str, Any]) -> dict[str, Any]:
    """Labels beside figures. Figures keep their names; an attribute of such a name is told from them by a word.

    >>> answer_columns({"group": ["low"], "low": ["3"]}, {"low": [7.5]})
    {'group': ['low'], 'attribute low': ['3'], 'low': [7.5]}
    """
    columns: dict[str, Any] = {}
    for name, column in labels.items():
        while name in figures or name in columns:
            name = f"attribute {name}"
        columns[name] = column
    return columns | dict(figures)


def largest_value(queries: Workload) -> float:
    """What a record can add to an answer at most, where there are sums: rounding errors grow with it."""
    domain = queries.domain
    asked = (domain.measure(name) for name in queries.attributes if name in domain.measured)
    if not domain.measures:
        return 1.0
    return max((1.0, *(own.largest for own in asked), *(1 / part.unit for part in queries.parts)))


def answer_table(
    queries: Workload,
    columns: tuple[Vector, Vector, Vector],
    largest_count: float,
    stated: Stated,
    level: float,
    attributes: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Labels, answer, std_error and the ends of intervals, from (answers, standard errors, half-widths)."""
    return answer_rows(queries, columns, largest_count, stated, level).frame(attributes)


@dataclass(frozen=True, eq=False)
class AnswerRows:
    """Answers before they are a table: a service sends the figures, and never builds the frame around them.

    figures: answer, std_error, low and high of every query. notes: what goes with them.
    """

    queries: Workload
    figures: Mapping[str, Vector]
    notes: Mapping[str, Any]

    def frame(self, attributes: Sequence[str] | None = None) -> pd.DataFrame:
        """The table, with a column for each attribute that is used, or for those given."""
        import pandas as pd

        labels = self.queries.table(0, self.queries.size, attributes)
        found = pd.DataFrame(answer_columns(labels, self.figures))
        found.attrs.update(self.notes)
        return found


def answer_rows(
    queries: Workload,
    columns: tuple[Vector, Vector, Vector],
    largest_count: float,
    stated: Stated,
    level: float,
) -> AnswerRows:
    """Answers with the ends of intervals, from (answers, standard errors, half-widths)."""
    answer, std_error, half_width = columns
    low, high = interval_ends(answer, half_width, largest_count)
    figures = {"answer": answer, "std_error": std_error, "low": low, "high": high}
    return AnswerRows(queries, figures, notes_of(stated, level))


ROUNDING_BITS = 44
"""Bits of the largest count that answers are right to, nearly: 53 less what long sums lose."""


def interval_ends(answer: Vector, half_width: Vector, largest_count: float) -> tuple[Vector, Vector]:
    """Lower and upper ends, rounded outwards by more than the rounding error of answers from counts of this size.

    On a coarse lattice the truth is often at the very end of the interval, and an answer of 8.000000000000002 ± 0 would
    miss a count of 8. Whole numbers stay what they are.
    """
    # Each answer by itself, so that its interval is the same whatever else is asked beside it.
    size = np.maximum(np.abs(answer), max(1.0, largest_count))
    unit = np.ldexp(1.0, np.frexp(size)[1] - ROUNDING_BITS)
    low, high = np.floor((answer - half_width) / unit), np.ceil((answer + half_width) / unit)
    return low * unit + 0.0, high * unit + 0.0  # no -0.0


def standard_errors_reached(*answers: pd.DataFrame) -> float:
    """How many standard errors the intervals of some tables of answers reach, at most.

    What is known for sure, where a fact says so, has errors of rounding alone, and intervals wider than those.
    """
    found = 0.0
    for table in answers:
        errors, widths = table["std_error"].to_numpy(), (table["high"] - table["low"]).to_numpy() / 2
        noisy = errors > 1e-6 * errors.max(initial=0.0)
        found = max(found, float(np.max(widths[noisy] / errors[noisy], initial=0.0)))
    return found


if TYPE_CHECKING:
    import pandas as pd

    from .combined import Combined
    from .derived import Estimate
    from .derived_tables import CrossTable
    from .release import Release

    Derived = TypeVar("Derived", Estimate, CrossTable, pd.DataFrame)


class Stated(Protocol):
    """What numbers are made from, as far as notes say something about it."""

    @property
    def statement(self) -> str:
        """What was promised and how to read the numbers."""
        ...


def read_as(population: str, noise: str = "noise", domain: Domain | None = None) -> str:
    """How to read unbiased answers, in words."""
    before, among = (f"{population} ", " for the records that are counted") if population else ("", "")
    values = "" if domain is None else summed_values(domain)
    unit, means = (" ", " Means and variances are made of such answers.") if values else (", in counts, ", "")
    before += f"{values} " if values else ""
    return (
        f"{before}Answers are unbiased{among}: {noise} was added, and the standard error of an answer{unit}says how "
        f"much. They agree with one another; a negative or fractional count is noise, not a mistake.{means}"
    )


def notes_of(release: Stated, level: float | None = None) -> dict[str, Any]:
    """The statement; the population where records are left out; what intervals at a level cover, where there are some.

    >>> import rowspace as rs
    >>> domain = rs.Domain(age=rs.Numeric(0, 4, bins=4, outside="drop"))
    >>> made = rs.release(rs.plan(rs.workload.total(domain), rs.PureDP(1.0)), [10, 20, 30, 40])
    >>> notes_of(made, 0.9)["intervals"]
    'Each interval by itself covers the count among the records that are counted with probability 0.9.'
    """
    left_out = _population(release)
    notes: dict[str, Any] = {"statement": release.statement}
    if left_out:
        notes["population"] = left_out
    if level is not None:
        words = getattr(release, "interval_words", None)  # what was selected says more
        if words is None:
            words = partial(interval_words, left_out, domain=_plan(release).domain)
        notes |= {"level": level, "intervals": words(level)}
    return notes


def with_notes(frame: pd.DataFrame, release: Stated, level: float | None = None) -> pd.DataFrame:
    """The same frame with the notes in its ``attrs``."""
    frame.attrs |= notes_of(release, level)
    return frame


def stating(derived: Derived, release: Release | Combined) -> Derived:
    """What was derived from a release, saying which records it is about."""
    from .derived import Estimate
    from .derived_tables import CrossTable

    if isinstance(derived, Estimate):
        return replace(derived, population=release.plan.population)
    frames = (
        (derived.answer, derived.std_error, derived.low, derived.high)
        if isinstance(derived, CrossTable)
        else (derived,)
    )
    for frame in frames:
        with_notes(frame, release)
    return derived


def _plan(release: Any) -> Any:
    return release.plan if hasattr(release, "plan") else release.release.plan


def _population(release: Any) -> str:
    return str(_plan(release).population)


def portions(workload: Workload, rows: int) -> Iterator[Workload]:
    """Workloads of about so many queries each, in order; a part is never cut."""
    portion: list[Part] = []
    size = 0
    for part in workload.parts:
        if portion and size + part.size > rows:
            yield Workload(workload.domain, portion)
            portion, size = [], 0
        portion.append(part)
        size += part.size
    yield Workload(workload.domain, portion)
