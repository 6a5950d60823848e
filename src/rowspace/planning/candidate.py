"""A strategy that planning has considered."""

from __future__ import annotations

from dataclasses import dataclass

from rowspace.notebook import one_line


@dataclass(frozen=True)
class Candidate:
    """One strategy that was considered: its name, predicted total error, distance from the bound, and time.

    max_error: its worst answer's squared error, importance weights aside, in plans for the worst answer.
    """

    name: str
    total_error: float
    ratio: float | None
    seconds: float
    max_error: float | None = None

    def __repr__(self) -> str:
        return one_line(f"<Candidate {self.name!r}: total squared error {self.total_error:.6g}>")
