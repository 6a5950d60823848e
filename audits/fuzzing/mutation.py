"""Spoiling valid input: a few random changes, so that most of it still makes sense to whoever reads it."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

Tree = Any

NUMBERS: tuple[Any, ...] = (
    *(-(2**63), -1, 0, 1, 2, 3, 7, 255, 2**20, 2**26, 2**31, 2**53, 2**62, 2**63, 2**64, 2**70, 10**400),
    *(-0.0, 0.5, 1.5, 1e-300, 5e-324, 1e15, 1e200, 1e308, float("nan"), float("inf"), -float("inf")),
)
STRINGS = ("", " ", "\x00", "a", "array0", "Prefix", "True", "age", "é\u202e\U0001f600", "\ud800", "x" * 3000)


def pick(rng: np.random.Generator, items: Sequence[Any]) -> Any:
    """One of the items."""
    return items[int(rng.integers(len(items)))]


def spoil_bytes(rng: np.random.Generator, data: bytes, donors: Sequence[bytes] = ()) -> bytes:
    """Bytes with a few changes: flipped, overwritten, cut out, doubled, or taken from another input."""
    spoilt = bytearray(data)
    for _ in range(int(min(rng.geometric(0.5), 8))):
        at = int(rng.integers(len(spoilt) + 1))
        length = int(min(rng.geometric(0.1), 200))
        match int(rng.integers(7)):
            case 0 if at < len(spoilt):
                spoilt[at] ^= 1 << int(rng.integers(8))
            case 1:
                spoilt[at : at + length] = rng.bytes(length)
            case 2:
                del spoilt[at : at + length]
            case 3:
                spoilt[at:at] = spoilt[at : at + length]
            case 4:
                spoilt[at:at] = pick(
                    rng, (b"\x00", b"\xff" * 8, b'"', b",", b"\n", b"[" * 50, b"\xed\xa0\x80")
                )
            case 5 if donors:
                donor = pick(rng, donors)
                start = int(rng.integers(len(donor) + 1))
                spoilt[at : at + length] = donor[start : start + length]
            case 6 if rng.random() < 0.1:
                del spoilt[at:]
    return bytes(spoilt)


def spoil_text(rng: np.random.Generator, text: str, words: Sequence[str]) -> str:
    """Text with a few changes; `words` are what its grammar is made of."""
    for _ in range(int(min(rng.geometric(0.5), 6))):
        at = int(rng.integers(len(text) + 1))
        end = at + int(min(rng.geometric(0.15), 200))
        match int(rng.integers(6)):
            case 0:
                text = text[:at] + text[end:]
            case 1:
                text = text[:at] + str(pick(rng, words)) + text[at:]
            case 2:
                text = text[:at] + str(pick(rng, words)) + text[end:]
            case 3:
                text = text[:at] + text[at:end] * 2 + text[end:]
            case 4:
                text = text[:at] + str(pick(rng, (*NUMBERS, *STRINGS[:9]))) + text[end:]
            case 5:
                lines = text.split("\n")
                one, other = int(rng.integers(len(lines))), int(rng.integers(len(lines)))
                lines[one], lines[other] = lines[other], lines[one]
                text = "\n".join(lines)
    return text


def spoil_tree(rng: np.random.Generator, tree: Tree, donors: Sequence[Tree]) -> Tree:
    """A JSON tree with a few changes; parts of `donors` take the place of its own."""
    tree = copy.deepcopy(tree)
    for _ in range(int(min(rng.geometric(0.6), 3))):
        places = list(_places(tree))
        if not places:
            return junk(rng, donors)
        inner, key = pick(rng, places)
        match int(rng.integers(6)):
            case 0 | 1:
                inner[key] = junk(rng, donors)
            case 2:
                del inner[key]
            case 3 if isinstance(inner, list):
                inner.insert(int(key), copy.deepcopy(inner[key]))
            case 3:
                inner[str(pick(rng, STRINGS))] = inner[key]
            case 4:
                inner[key] = _nudged(rng, inner[key])
            case 5:
                other, place = pick(rng, places)
                if place in range(len(other)) if isinstance(other, list) else place in other:
                    inner[key] = copy.deepcopy(other[place])
    return tree


def junk(rng: np.random.Generator, donors: Sequence[Tree]) -> Tree:
    """A value that has no business where it is put."""
    match int(rng.integers(5)):
        case 0:
            return pick(rng, NUMBERS)
        case 1:
            return pick(rng, STRINGS)
        case 2:
            return pick(rng, (None, True, False))
        case 3:
            value: Tree = pick(rng, ([], {}, 3, "a"))
            for _ in range(int(rng.integers(60))):
                value = [value] if rng.random() < 0.5 else {"of": value, "operator": "Transpose"}
            return value
    places = [inner[key] for inner, key in _places(pick(rng, donors))]
    return copy.deepcopy(pick(rng, places)) if places else {}


def _places(tree: Tree, most: int = 400) -> Any:
    """(container, key) of the values in a tree, at most so many of each container."""
    pending = [tree]
    while pending:
        inner = pending.pop()
        keys = (
            list(inner) if isinstance(inner, dict) else range(len(inner)) if isinstance(inner, list) else ()
        )
        for key in keys[:most]:
            yield inner, key
            pending.append(inner[key])


def _nudged(rng: np.random.Generator, value: Tree) -> Tree:
    """A value near the one that was there."""
    if isinstance(value, (bool, type(None))):
        return not value
    if isinstance(value, int):
        return pick(rng, (value - 1, value + 1, -value, 2 * value, 1000 * value, float(min(value, 2**60))))
    if isinstance(value, float):
        return pick(rng, (-value, value / 2, value * (1 + 2**-50), str(value)))
    if isinstance(value, str):
        return spoil_text(rng, value, ("and", "=", "(", ")", "'", "0", "\n"))
    if isinstance(value, list):
        return value[::-1] if rng.random() < 0.5 else value * 2
    return list(value.values())
