"""Discovery: the values of a column that passed a private threshold, with their noisy counts. All is post-processing.

Guarantees
- It holds the plan, what passed and its noisy counts, nothing else about the data
  (tests/releases/test_discovered.py::test_it_holds_what_passed_and_nothing_else).
- Values are in the order of their own, whatever the order of the table
  (tests/test_discovery.py::test_the_order_of_records_changes_nothing).
- Intervals cover the count among what is shown with at least the stated probability (`rowspace.error.intervals`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from rowspace._version import __version__
from rowspace.domain import Categorical, Label
from rowspace.error import selected_intervals
from rowspace.exceptions import FileError, InvalidDomain, InvalidInput
from rowspace.files import Archived, Arrays
from rowspace.notebook import one_line
from rowspace.planning import DiscoveryPlan

from .answer_columns import with_notes

if TYPE_CHECKING:
    import pandas as pd

DISCOVERY_KIND = "rowspace discovery"


@dataclass(frozen=True)
class Discovery(Archived):
    """What was found: keys in order, each with a noisy count that passed.

    plan: what was promised, and from which noisy count on keys are shown.
    values: one tuple for every column, entry i of each is key i.
    noisy_counts: how many records or units seem to have each key; too high on average near the threshold.

    >>> from rowspace.privacy import ApproxDP
    >>> plan = DiscoveryPlan(("diagnosis",), ApproxDP(1.0, 1e-8))
    >>> found = Discovery(plan, (("asthma", "flu"),), [120, 31])
    >>> found.categorical
    Categorical(['asthma', 'flu'], other='other')
    >>> found.answers()[["diagnosis", "answer", "low", "high"]].values.tolist()
    [['asthma', 120, 117, 123], ['flu', 31, 28, 34]]
    """

    plan: DiscoveryPlan
    values: tuple[tuple[Label, ...], ...]
    noisy_counts: npt.NDArray[np.int64]

    _archive: ClassVar[tuple[str, int]] = (DISCOVERY_KIND, 1)

    def __post_init__(self) -> None:
        counts = np.array(self.noisy_counts, dtype=np.int64).reshape(-1)
        values = tuple(tuple(column) for column in self.values)
        if [len(column) for column in values] != [len(counts)] * len(self.plan.columns):
            raise InvalidInput("expected a value of every column for each noisy count")
        if np.any(counts < self.plan.least):
            raise InvalidInput(
                f"expected noisy counts of {self.plan.least} or more, as the plan shows no others"
            )
        counts.setflags(write=False)
        object.__setattr__(self, "noisy_counts", counts)
        object.__setattr__(self, "values", values)

    @classmethod
    def in_order(cls, plan: DiscoveryPlan, values: Sequence[Sequence[Label]], counts: Any) -> Discovery:
        """The same whatever order keys come in: engines give them in one that depends on the data.

        plan, values, counts: as they are stored.

        >>> from rowspace.privacy import ApproxDP
        >>> plan = DiscoveryPlan(("diagnosis",), ApproxDP(1.0, 1e-8))
        >>> Discovery.in_order(plan, [["flu", "asthma"]], [31, 120]).values
        (('asthma', 'flu'),)
        """
        keys = list(zip(*values, strict=True))
        order = sorted(range(len(keys)), key=keys.__getitem__)
        chosen = np.asarray(counts, dtype=np.int64)[order]
        return cls(plan, tuple(tuple(column[i] for i in order) for column in values), chosen)

    @property
    def categorical(self) -> Categorical:
        """The values that were found as an attribute; every other one, and NULL, is `other`."""
        if len(self.plan.columns) != 1:
            raise InvalidInput(
                "these are keys of several columns; `attributes` has a Categorical for each of them"
            )
        return self.attributes[self.plan.columns[0]]

    @property
    def attributes(self) -> dict[str, Categorical]:
        """A Categorical for every column, with the values that stand in any key that was found."""
        if not len(self.noisy_counts):
            raise InvalidDomain(
                f"no value of {' and '.join(map(repr, self.plan.columns))} has a noisy count of {self.plan.least:,} or "
                "more, so there is no category; use a larger epsilon or delta, or declare the categories"
            )
        return {
            name: Categorical(sorted(set(column)), other=self.plan.other)
            for name, column in zip(self.plan.columns, self.values, strict=True)
        }

    def answers(self, level: float = 0.95) -> pd.DataFrame:
        """What was found, with noisy counts: key, answer, std_error and an interval at `level`.

        level: the confidence level. An interval covers the count with at least this probability *given that the key was
        shown*; so near the threshold it reaches far down, and the noisy count is near its upper end.

        >>> from rowspace.privacy import ApproxDP
        >>> plan = DiscoveryPlan(("diagnosis",), ApproxDP(1.0, 1e-8))
        >>> Discovery(plan, (("asthma",),), [19]).answers()[["low", "high"]].values.tolist()
        [[1, 21]]
        """
        import pandas as pd

        if not 0 < level < 1:
            raise InvalidInput("expected a confidence level between 0 and 1, such as 0.95")
        low, high = selected_intervals(self.plan.threshold, self.plan.least, self.noisy_counts, level)
        frame = pd.DataFrame(
            {
                **{name: list(column) for name, column in zip(self.plan.columns, self.values, strict=True)},
                "answer": self.noisy_counts,
                "std_error": self.plan.threshold.std_error,
                "low": low,
                "high": high,
            }
        )
        return with_notes(frame, self, level)

    def interval_words(self, level: float) -> str:
        """What intervals at a level cover.

        level: the confidence level.

        >>> from rowspace.privacy import ApproxDP
        >>> Discovery(DiscoveryPlan(("town",), ApproxDP(1.0, 1e-8)), (("A",),), [40]).interval_words(0.9)
        'Each interval by itself covers the count, among what is shown, with probability 0.9 or more.'
        """
        return f"Each interval by itself covers the count, among what is shown, with probability {level:g} or more."

    @property
    def statement(self) -> str:
        """What was promised and how to read the numbers, in plain words."""
        plan = self.plan
        return (
            f"Found by rowspace {__version__} under {plan.privacy}. {plan.population} Shown are the values of "
            f"{' and '.join(plan.columns)} whose count with {plan.threshold.name} is {plan.least:,} or more; a value "
            "that is not shown may still be there. Noisy counts near that are too high on average; the intervals "
            "allow for it. Any further computation on these numbers costs no privacy."
        )

    def __len__(self) -> int:
        return len(self.noisy_counts)

    def __repr__(self) -> str:
        what = " × ".join(self.plan.columns)
        return one_line(f"<Discovery of {len(self):,} values of {what} under {self.plan.privacy}>")

    def __str__(self) -> str:
        return f"Discovery of {len(self):,} values of {' × '.join(self.plan.columns)}\n  {self.statement}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Discovery):
            return NotImplemented
        same = self.plan == other.plan and self.values == other.values
        return same and np.array_equal(self.noisy_counts, other.noisy_counts)

    __hash__ = None  # type: ignore[assignment]

    def _encode(self) -> tuple[dict[str, Any], Arrays]:
        arrays: Arrays = {"noisy_counts": self.noisy_counts}
        types = []
        for position, column in enumerate(self.values):
            kind, packed = _packed(column)
            types.append(kind)
            arrays |= {f"{name}{position}": array for name, array in packed.items()}
        return {"plan": self.plan.to_dict(), "types": types}, arrays

    @classmethod
    def _decode(cls, body: dict[str, Any], arrays: Arrays) -> Self:
        counts, types = arrays.get("noisy_counts"), body.get("types")
        if counts is None or counts.dtype != np.int64 or counts.ndim != 1 or not isinstance(types, list):
            raise FileError("damaged discovery: its noisy counts are missing")
        try:
            plan = DiscoveryPlan.from_dict(body.get("plan"))
            values = tuple(_unpacked(kind, str(position), arrays) for position, kind in enumerate(types))
            found = cls(plan, values, counts)
        except (InvalidInput, KeyError, TypeError, ValueError):
            raise FileError("damaged discovery: its values do not fit its plan") from None
        keys = list(zip(*found.values, strict=True))
        if any(one >= next_ for one, next_ in pairwise(keys)):
            raise FileError("damaged discovery: its values are not in order")
        return found


def _packed(column: Sequence[Label]) -> tuple[str, Arrays]:
    """A column as arrays: a million texts are too many values for a JSON document."""
    if column and type(column[0]) is str:
        texts = [str(value).encode() for value in column]
        ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
        return "str", {"text": np.frombuffer(b"".join(texts), dtype=np.uint8), "ends": ends}
    kind = "bool" if column and type(column[0]) is bool else "int"
    return kind, {"number": np.array(column, dtype=np.int64)}


def _unpacked(kind: str, position: str, arrays: Arrays) -> tuple[Label, ...]:
    """The column that `_packed` packed; `ValueError` or `KeyError` if there is none."""
    if kind == "str":
        text, ends = arrays[f"text{position}"], arrays[f"ends{position}"]
        starts = np.concatenate([[0], ends])
        if (
            text.dtype != np.uint8
            or ends.dtype != np.int64
            or np.any(np.diff(starts) < 0)
            or starts[-1] != text.size
        ):
            raise ValueError("expected texts that lie one after the other")
        whole = text.tobytes()
        return tuple(whole[a:b].decode() for a, b in pairwise(starts.tolist()))
    numbers = arrays[f"number{position}"]
    if (
        numbers.dtype != np.int64
        or kind not in ("int", "bool")
        or (kind == "bool" and set(numbers.tolist()) - {0, 1})
    ):
        raise ValueError("expected whole numbers or booleans")
    return tuple(map(bool if kind == "bool" else int, numbers.tolist()))
