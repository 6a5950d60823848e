"""What goes with released numbers wherever they go: the promise, how to read them, and which records they are about."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from rowspace.domain import Domain
from rowspace.planning import interval_words, summed_values

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
