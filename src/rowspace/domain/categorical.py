"""Categories, an optional bucket for everything else, and taxonomies over them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from rowspace.domain.suggestions import did_you_mean, first_few
from rowspace.exceptions import InvalidDomain
from rowspace.notebook import one_line

#: A category: text, an integer or a boolean, and all of an attribute alike.
Label = str | int | bool

Outside = Literal["missing", "drop"]

#: Most categories one attribute may have.
MAX_CATEGORIES = 2**22
_INT64 = 2**63


@dataclass(frozen=True, eq=False)
class Level:
    """A level of a taxonomy seen from its attribute's cells: cell ``i`` belongs to ``labels[groups[i]]``."""

    name: str
    labels: tuple[Label, ...]
    groups: npt.NDArray[np.int64]

    @property
    def size(self) -> int:
        """Number of labels."""
        return len(self.labels)

    def label(self, index: int) -> str:
        """Return the readable name of one label."""
        return readable(self.labels[index])


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Categorical:
    """One of a list of categories, one cell each, in the order given.

    Args:
        values: The categories: all text, all integers, or all booleans.
        other: Label of one more cell, at the end, for every other value and for NULL.
        outside: What becomes of a record with another value, or NULL, when there is no `other`. ``"missing"``: it is
            in no category, and in all counts that are not about this attribute. ``"drop"``: it is left out of every
            count of a workload that names this attribute. How many there are is never reported.
        levels: A taxonomy, fine to coarse: each level maps the labels of the one before (the first: the
            categories) to its own. Levels can be queried like attributes. `other` need not be mapped: it
            stays `other` at every level.

    >>> states = {"Alameda": "CA", "Kern": "CA", "Clark": "NV"}
    >>> county = Categorical(list(states), levels={"state": states, "region": {"CA": "West", "NV": "West"}})
    >>> county.size, county.level("state").labels, county.level("state").groups.tolist()
    (3, ('CA', 'NV'), [0, 0, 1])
    """

    values: tuple[Label, ...]
    other: str | None
    levels: Mapping[str, Mapping[Label, Label]]
    outside: Outside

    def __init__(
        self,
        values: Iterable[Label],
        *,
        other: str | None = None,
        outside: Outside = "missing",
        levels: Mapping[str, Mapping[Any, Label]] | None = None,
    ) -> None:
        checked = _check_labels(values, "values")
        if outside not in ("missing", "drop"):
            raise InvalidDomain(
                f"outside must be 'missing' or 'drop', got {outside!r}; other= names a category for the rest"
            )
        if other is not None:
            if not isinstance(other, str) or not other or not _is_unicode(other):
                raise InvalidDomain(
                    f"other must be the label (text) of the bucket for everything else, got {other!r}"
                )
            if other in checked:
                raise InvalidDomain(f"other={other!r} is already one of the values; choose a different label")
        object.__setattr__(self, "values", checked)
        object.__setattr__(self, "other", other)
        object.__setattr__(self, "outside", outside)
        object.__setattr__(self, "levels", _check_levels(self.cell_labels, other, levels))

    @cached_property
    def cell_labels(self) -> tuple[Label, ...]:
        """The label of every cell: the values, then `other` if there is one."""
        return self.values if self.other is None else (*self.values, self.other)

    @property
    def size(self) -> int:
        """Number of cells."""
        return len(self.values) + (self.other is not None)

    @property
    def keeps_missing(self) -> bool:
        """Whether a record without a known value is counted in what is not about this attribute."""
        return self.other is None and self.outside == "missing"

    @property
    def drops(self) -> bool:
        """Whether a record without a known value is left out of every count."""
        return self.other is None and self.outside == "drop"

    @property
    def type(self) -> type[Label]:
        """Type of the values: str, int or bool."""
        return type(self.values[0])

    def level(self, name: str) -> Level:
        """Return one level of the taxonomy, composed down to the cells. name: what the level is called.

        >>> town = Categorical(["a", "b", "c"], levels={"land": {"a": "north", "b": "north", "c": "south"}})
        >>> town.level("land").size
        2
        """
        if name not in self._composed:
            raise InvalidDomain(f"unknown level {name!r}; {did_you_mean(name, self._composed)}")
        return self._composed[name]

    def label(self, index: int) -> str:
        """Return the readable name of one cell. index: its place, from 0.

        >>> Categorical(["F", "M"]).label(0)
        'F'
        """
        return readable(self.cell_labels[index])

    def labels(self, start: int = 0, stop: int | None = None) -> list[str]:
        """Return the readable names of the cells ``start`` to ``stop - 1``.

        >>> Categorical(["F", "M"]).labels()
        ['F', 'M']
        """
        return [readable(label) for label in self.cell_labels[start:stop]]

    def span_label(self, first: int, last: int) -> str:
        """Return the readable name of the cells ``first`` to ``last``, both included, in order.

        >>> Categorical(["F", "M"]).span_label(0, 1)
        'F to M'
        """
        return self.span_labels(np.array([first]), np.array([last]))[0]

    def span_labels(self, first: npt.NDArray[np.int64], last: npt.NDArray[np.int64]) -> list[str]:
        """Return the readable names of many spans at once.

        first, last: the cells where each begins and ends, both included.

        >>> Categorical(["F", "M"]).span_labels(np.array([0, 1]), np.array([1, 1]))
        ['F to M', 'M']
        """
        ends = zip(first.tolist(), last.tolist(), strict=True)
        return [self.label(a) if a == b else f"{self.label(a)} to {self.label(b)}" for a, b in ends]

    def __str__(self) -> str:
        shown = ", ".join(self.labels(0, min(self.size, 6))) + (", …" if self.size > 6 else "")
        shown += f"; levels {', '.join(self.levels)}" if self.levels else ""
        return shown + ("; others dropped" if self.drops else "")

    def __repr__(self) -> str:
        parts = [f"[{first_few(self.values)}]"]
        if self.other is not None:
            parts.append(f"other={self.other!r}")
        if self.levels:
            parts.append(f"levels={list(self.levels)}")
        if self.drops:
            parts.append("outside='drop'")
        return one_line(f"Categorical({', '.join(parts)})")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Categorical):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash((self.type, self.values, self.other, tuple(self.levels)))

    def __reduce__(self) -> tuple[Any, ...]:
        return Categorical.from_dict, (
            self.to_dict(),
        )  # the read-only mappings cannot be copied by themselves

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON-safe form. Levels are lists of pairs, since JSON keys can only be text.

        >>> sex = Categorical(["F", "M"])
        >>> Categorical.from_dict(sex.to_dict()) == sex
        True
        """
        return {
            "kind": "categorical",
            "values": list(self.values),
            "other": self.other,
            "outside": self.outside,
            "levels": [
                {"name": name, "map": [[fine, coarse] for fine, coarse in mapping.items()]}
                for name, mapping in self.levels.items()
            ],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Categorical:
        """Rebuild from `to_dict`, checking everything: the file may come from anyone.

        data: what `to_dict` returned.

        >>> sex = Categorical(["F", "M"])
        >>> Categorical.from_dict(sex.to_dict()) == sex
        True
        """
        if not isinstance(data.get("values"), list) or not isinstance(data.get("levels", []), list):
            raise InvalidDomain("a categorical attribute needs a list of values and a list of levels")
        levels: dict[str, dict[Label, Label]] = {}
        for item in data.get("levels", []):
            match item:
                case {"name": str(name), "map": list(pairs)} if all(
                    _is_pair_of_labels(pair) for pair in pairs
                ):
                    mapping = dict(pairs)
                    if name in levels or len(mapping) != len(pairs):
                        raise InvalidDomain("a taxonomy names a level or maps a label twice")
                    levels[name] = mapping
                case _:
                    raise InvalidDomain("a taxonomy level needs a name and a list of pairs of labels")
        # Files of version 0.1 say nothing: there other values were dropped.
        outside = data.get("outside", "drop")
        return cls(data["values"], other=data.get("other"), outside=outside, levels=levels)

    @cached_property
    def _composed(self) -> dict[str, Level]:
        """Every level composed down to the cells."""
        composed: dict[str, Level] = {}
        labels, groups = self.cell_labels, np.arange(self.size)
        for name, mapping in self.levels.items():
            coarse = tuple(dict.fromkeys(mapping[label] for label in labels))
            position = {label: at for at, label in enumerate(coarse)}
            groups = np.array([position[mapping[label]] for label in labels], dtype=np.int64)[groups]
            groups.flags.writeable = False
            composed[name] = Level(name, coarse, groups)
            labels = coarse
        return composed

    def _key(self) -> tuple[object, ...]:
        """Everything that makes two attributes the same; the type, since True == 1."""
        levels = [(name, [(type(c), f, c) for f, c in m.items()]) for name, m in self.levels.items()]
        return self.type, self.values, self.other, self.drops, levels


def readable(label: Label) -> str:
    """Write a label for a table: as it is, unless that could not be seen or would break the line."""
    text = str(label)
    return text if text and text.isprintable() and text == text.strip() else repr(text)


def _is_unicode(text: str) -> bool:
    """Whether a text can be written to a file or sent to an engine: JSON lets half characters through."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_pair_of_labels(pair: object) -> bool:
    """Tell whether a saved pair is a list of two labels."""
    return isinstance(pair, list) and len(pair) == 2 and all(isinstance(label, str | int) for label in pair)


def _check_labels(values: Iterable[Label], what: str) -> tuple[Label, ...]:
    """Return labels as plain Python values of one type, without repetition."""
    if isinstance(values, str | bytes | Mapping):
        raise InvalidDomain(f"{what} must be a list of categories, got {type(values).__name__}")
    try:
        items = list(values)
    except TypeError:
        raise InvalidDomain(f"{what} must be a list of categories, got {type(values).__name__}") from None
    if not items:
        raise InvalidDomain(f"{what} is empty: list at least one category")
    if len(items) > MAX_CATEGORIES:
        raise InvalidDomain(f"at most 2**22 = {MAX_CATEGORIES:,} categories are possible, got {len(items):,}")
    plain = _check_types(items, what)
    if len(set(plain)) < len(plain):
        seen: set[Label] = set()
        twice = next(item for item in plain if item in seen or seen.add(item))  # type: ignore[func-returns-value]
        raise InvalidDomain(f"{what} must differ from each other, {twice!r} is there twice")
    return tuple(plain)


def _check_types(items: Iterable[object], what: str) -> list[Label]:
    """Return labels as plain Python values, all of one type."""
    plain: list[Any] = [item.item() if isinstance(item, np.generic) else item for item in items]
    types = sorted({type(item) for item in plain}, key=lambda kind: kind.__name__)
    for kind in types:
        if kind not in (str, int, bool):
            advice = "; use Numeric for measurements" if kind is float else ""
            advice = "; NULL is never a category, declare other= for it" if kind is type(None) else advice
            raise InvalidDomain(f"{what} must be text, integers or booleans, got {kind.__name__}{advice}")
    if len(types) > 1:
        raise InvalidDomain(f"{what} must all be of one type, got {' and '.join(t.__name__ for t in types)}")
    if types == [str] and not all(item.isascii() or _is_unicode(item) for item in plain):
        raise InvalidDomain(f"{what} must be text that UTF-8 can hold, got half a character (a surrogate)")
    if types == [int] and not all(-_INT64 <= item < _INT64 for item in plain):
        raise InvalidDomain(f"{what} must fit in 64-bit integers")
    return plain


def _check_levels(
    cells: tuple[Label, ...], other: str | None, levels: Mapping[str, Mapping[Any, Label]] | None
) -> Mapping[str, Mapping[Label, Label]]:
    """Return the taxonomy with `other` mapped and every level total."""
    if levels is None:
        return MappingProxyType({})
    if not isinstance(levels, Mapping):
        raise InvalidDomain(f"levels must map each level's name to a mapping, got {type(levels).__name__}")
    checked: dict[str, Mapping[Label, Label]] = {}
    below, below_name = cells, "the values"
    for name, mapping in levels.items():
        if not isinstance(mapping, Mapping):
            raise InvalidDomain(f"level {name!r} must map labels to labels, got {type(mapping).__name__}")
        targets = _check_types(mapping.values(), f"the labels of level {name!r}")
        total: dict[Label, Label] = dict(zip(mapping, targets, strict=True))
        if other is not None and other in below and other not in total:
            if other in targets:
                raise InvalidDomain(
                    f"level {name!r} has a label {other!r} like the bucket for everything else; "
                    f"map {other!r} as well"
                )
            total[other] = other
        missing = [label for label in below if label not in total]
        if missing:
            raise InvalidDomain(
                f"level {name!r} must map each of {below_name}; missing: {first_few(missing)}"
            )
        if len(total) > len(below):
            known = set(below)
            extra = [label for label in total if label not in known]
            raise InvalidDomain(f"level {name!r} maps what is not among {below_name}: {first_few(extra)}")
        checked[name] = MappingProxyType({label: total[label] for label in below})
        below, below_name = tuple(dict.fromkeys(checked[name].values())), f"the labels of level {name!r}"
    return MappingProxyType(checked)
