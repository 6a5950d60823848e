"""Saved values: JSON trees of domains, workloads, guarantees, noise models and operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from tests.operators.catalogue import CASES

from rowspace import operators as op
from rowspace import workload
from rowspace.domain import Domain
from rowspace.privacy import (
    ZCDP,
    ApproxDP,
    ApproxDPTheorem3,
    PureDP,
    integer_norm,
    noise_from_dict,
    privacy_from_dict,
)
from rowspace.workload import Workload

from .attack import Parser
from .mutation import pick, spoil_tree
from .texts import DOMAIN

PRIVACIES = (
    PureDP(1.0),
    PureDP(0.3, "replace-one"),
    ApproxDP(1.0, 1e-9),
    ZCDP(0.1),
    ApproxDPTheorem3(0.5, 1e-6),
)

SPOILT_ARRAYS = (
    *(np.array([]), np.array([np.nan]), np.arange(3), np.eye(2), np.zeros((2, 0)), np.zeros((0, 5))),
    *(
        np.array([np.inf, -1.0]),
        np.array([2**63 - 1, -(2**63)]),
        np.array(3),
        np.arange(7)[::-1],
        np.array([1j]),
    ),
    *(np.array(["x"]), np.full((1, 1), 2**62), np.array([1e308, 1e308]), np.array([5e-324])),
)


def workloads() -> tuple[Workload, ...]:
    """One workload of every family."""
    W = workload
    return (
        W.ranges(DOMAIN, "age") + 2.5 * W.marginals(DOMAIN, up_to=2),
        W.prefixes(DOMAIN, "height") + W.total(DOMAIN) + W.widths(DOMAIN, "age", 5),
        W.marginal(DOMAIN, "half")
        + W.predicates(DOMAIN, ["age < 18 or sex = 'F'", "smoker and zone in (1, 2)"]),
        W.matrix(np.eye(7) - 0.5),
        W.matrix(op.Kronecker(op.Prefix(4), op.Stack(op.Total(3), op.Identity(3)))),
    )


def domains() -> Parser:
    """Saved domains."""
    seeds = [DOMAIN.to_dict(), *(one.domain.to_dict() for one in workloads())]
    return Parser(
        "saved domains",
        lambda rng: spoil_tree(rng, pick(rng, seeds), seeds),
        lambda t: str(Domain.from_dict(t)),
    )


def saved_workloads() -> Parser:
    """Saved workloads with their arrays."""
    seeds = [one.to_dict() for one in workloads()]
    trees = [tree for tree, _ in seeds]

    def draw(rng: np.random.Generator) -> tuple[Any, dict[str, Any]]:
        tree, arrays = pick(rng, seeds)
        return spoil_tree(rng, tree, trees), _spoil_arrays(rng, arrays)

    def read(given: tuple[Any, dict[str, Any]]) -> None:
        read_back = Workload.from_dict(*given)
        str(read_back)
        read_back.label(read_back.size - 1)

    return Parser("saved workloads", draw, read)


def guarantees() -> Parser:
    """Saved privacy guarantees and noise models."""
    promised = [privacy.to_dict() for privacy in PRIVACIES]
    models = [privacy.noise(5).to_dict() for privacy in PRIVACIES]

    def draw(rng: np.random.Generator) -> tuple[bool, Any]:
        is_noise = bool(rng.random() < 0.4)
        return is_noise, spoil_tree(rng, pick(rng, models if is_noise else promised), promised + models)

    def read(given: tuple[bool, Any]) -> None:
        if given[0]:
            str(noise_from_dict(given[1]))
        else:
            str(privacy_from_dict(given[1]).noise(7))

    return Parser("saved guarantees and noise", draw, read)


def operators() -> Parser:
    """Saved operators of every kind, and what a plan asks of them."""
    seeds = [op.encode(case.operator) for case in CASES]
    trees = [tree for tree, _ in seeds]

    def draw(rng: np.random.Generator) -> tuple[Any, dict[str, Any]]:
        tree, arrays = pick(rng, seeds)
        return spoil_tree(rng, tree, trees), _spoil_arrays(rng, arrays)

    def read(given: tuple[Any, dict[str, Any]]) -> None:
        decoded = op.decode(*given)
        if decoded.integral:
            decoded.largest_entry()
            for privacy in PRIVACIES[:3]:
                integer_norm(decoded, privacy)

    return Parser("saved operators", draw, read)


def _spoil_arrays(rng: np.random.Generator, arrays: dict[str, Any]) -> dict[str, Any]:
    """The same arrays, perhaps with one of them replaced."""
    if not arrays or rng.random() < 0.6:
        return arrays
    return arrays | {pick(rng, sorted(arrays)): spoilt_array(rng, list(arrays.values()))}


def spoilt_array(rng: np.random.Generator, arrays: Sequence[Any]) -> Any:
    """An array near one of these, or an odd one."""
    if rng.random() < 0.5:
        return pick(rng, SPOILT_ARRAYS)
    array = np.array(pick(rng, arrays))
    if array.size:
        values = (0, 1, -1, 2**31, 2**62) if array.dtype.kind in "iu" else (0.0, -1.0, np.nan, np.inf, 1e300)
        array.flat[int(rng.integers(array.size))] = pick(rng, values)
    return array[::-1].copy() if array.ndim and rng.random() < 0.2 else array
