"""What was measured, as records: the page is made from these, and from nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

FOLDER = Path("out") / "bench"
"""Records and generated data; not in git."""

OURS = "rowspace"


@dataclass(frozen=True)
class Record:
    """One contender at one size of one case, beside the floor that was timed just before it in the same process."""

    topic: str
    case: str
    contender: str
    size: int
    elapsed: float | None = None
    cpu: float | None = None
    floor_elapsed: float | None = None
    floor_cpu: float | None = None
    peak_bytes: int | None = None
    error: float | None = None
    note: str = ""

    @property
    def key(self) -> tuple[str, str, str, int]:
        """What a later run of the same replaces."""
        return self.topic, self.case, self.contender, self.size


@dataclass(frozen=True)
class Reached:
    """What a goal asked for, and what was reached: numbers, each of which may not exceed its limit."""

    goal: str
    values: tuple[float, ...]

    @property
    def key(self) -> str:
        """What a later run of the same replaces."""
        return self.goal


def save(records: Iterable[Record], reached: Iterable[Reached], folder: Path = FOLDER) -> None:
    """Add to what is there; what was measured again is replaced."""
    old_records, old_reached = load(folder)
    all_records = {r.key: r for r in (*old_records, *records)}
    all_reached = {r.key: r for r in (*old_reached, *reached)}
    folder.mkdir(parents=True, exist_ok=True)
    document = {
        "records": [asdict(record) for record in all_records.values()],
        "reached": [asdict(one) for one in all_reached.values()],
    }
    (folder / "records.json").write_text(json.dumps(document, indent=1))


def load(folder: Path = FOLDER) -> tuple[list[Record], list[Reached]]:
    """All records so far."""
    path = folder / "records.json"
    if not path.exists():
        return [], []
    document = json.loads(path.read_text())
    reached = [Reached(one["goal"], tuple(one["values"])) for one in document["reached"]]
    return [Record(**record) for record in document["records"]], reached
