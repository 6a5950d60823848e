"""What an attacker can learn from a mechanism by asking it again and again: no knowledge of its inside.

A mechanism is a function ``(counts, size) -> outputs`` of shape (size, answers), one release in each row. An attack
looks at releases of two neighbouring tables (training), picks an event that tells them apart, and is judged by how
often that event happens in fresh releases (testing). Nothing here knows which fault it is looking for, or that there
is one: healthy and broken mechanisms go through the same functions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rowspace.privacy import Privacy

from .certify import certified_loss, claim

Counts = npt.NDArray[np.int64]
Outputs = npt.NDArray[np.int64] | npt.NDArray[np.float64]
Vector = npt.NDArray[np.float64]
Mechanism = Callable[[Counts, int], Outputs]
Score = Callable[[Outputs], Vector]  # high: the first table, low: the second
Learner = Callable[[Outputs, Outputs], Score]


@dataclass(frozen=True)
class Tables:
    """Two neighbouring tables of which one is the secret, and a third that the attacker knows."""

    first: Counts
    second: Counts
    known: Counts


@dataclass(frozen=True)
class Finding:
    """The largest loss an attack has proved, and which attack."""

    loss: float
    promised: float
    attack: str

    @property
    def caught(self) -> bool:
        """Whether the promise is broken: never for a healthy mechanism, but for the stated false-alarm rate."""
        return self.loss > self.promised


def attacked(mechanism: Mechanism, tables: Tables, privacy: Privacy, size: int) -> Finding:
    """Try every attack with `size` releases of each table, a quarter of them for training.

    False-alarm rate: `certify.FALSE_ALARM` for each of the 20 events (2 views, 5 scores, 2 orders), 2e-9 in all.
    """
    best = Finding(0.0, claim(privacy), "none")
    for view_name, view in VIEWS.items():
        training = [view(mechanism, x, tables, size // 4) for x in (tables.first, tables.second)]
        testing = [view(mechanism, x, tables, size) for x in (tables.first, tables.second)]
        for score_name, learn in LEARNERS.items():
            score = learn(*training)
            learned, tested = [score(y) for y in training], [score(y) for y in testing]
            for one, other, sign in ((0, 1, 1.0), (1, 0, -1.0)):
                threshold = _best_threshold(sign * learned[one], sign * learned[other], privacy)
                first, second = (int((sign * tested[k] >= threshold).sum()) for k in (one, other))
                found = float(certified_loss(privacy, first, second, size))
                if found > best.loss:
                    best = Finding(found, best.promised, f"{score_name}, {view_name}")
    return best


def _best_threshold(first: Vector, second: Vector, privacy: Privacy) -> float:
    """The event {score ≥ t} that would prove most if training were testing."""
    candidates = np.unique(
        np.quantile(np.concatenate([first, second]), np.linspace(0, 1, 129), method="higher")
    )
    above = [len(s) - np.searchsorted(np.sort(s), candidates, side="left") for s in (first, second)]
    return float(candidates[np.argmax(certified_loss(privacy, above[0], above[1], len(first)))])


def _one_release(mechanism: Mechanism, secret: Counts, tables: Tables, size: int) -> Outputs:
    return mechanism(secret, size)


def _change_since_a_known_release(mechanism: Mechanism, secret: Counts, tables: Tables, size: int) -> Outputs:
    """The attacker has a release of a table he knows: it holds no secret, so the promise stays the same."""
    return mechanism(secret, size) - mechanism(tables.known, size)


VIEWS: dict[str, Callable[[Mechanism, Counts, Tables, int], Outputs]] = {
    "one release": _one_release,
    "change since a release of a known table": _change_since_a_known_release,
}


def learn_distances(first: Outputs, second: Outputs) -> Score:
    """Nearer to the medians of the first table than of the second: the likelihood ratio of Laplace noise."""
    a, b = np.median(first, axis=0), np.median(second, axis=0)
    a, b = np.where(_differ(first, second), a, 0.0), np.where(_differ(first, second), b, 0.0)
    return lambda y: (np.abs(y - b) - np.abs(y - a)).sum(axis=1)


def learn_means(first: Outputs, second: Outputs) -> Score:
    """Along the difference of the means: the likelihood ratio of Gaussian noise."""
    direction = np.where(_differ(first, second), first.mean(axis=0) - second.mean(axis=0), 0.0)
    largest = float(np.abs(direction).max())
    if largest == 0.0:
        return lambda y: np.zeros(len(y))
    # Answers without noise get a finite, overwhelming weight.
    spread = np.maximum(first.std(axis=0), 1e-6 * largest)
    weights = direction * (largest / spread**2)
    return lambda y: np.asarray(y @ weights)


def _differ(first: Outputs, second: Outputs) -> npt.NDArray[np.bool_]:
    """Which answers have visibly different means; the others would only add noise to a score."""
    deviation = np.sqrt((first.var(axis=0) + second.var(axis=0)) / len(first))
    return np.asarray(np.abs(first.mean(axis=0) - second.mean(axis=0)) > 4 * deviation)


def _learn_frequencies(feature: Callable[[Outputs], Vector]) -> Learner:
    """Likelihood ratio of a feature of every answer by how often its values were seen, answers taken as independent."""

    def learn(first: Outputs, second: Outputs) -> Score:
        tables = [_log_ratios(a, b) for a, b in zip(feature(first).T, feature(second).T, strict=True)]

        def score(y: Outputs) -> Vector:
            total = np.zeros(len(y))
            for (values, ratios), column in zip(tables, feature(y).T, strict=True):
                at = np.minimum(np.searchsorted(values, column), len(values) - 1)
                total += np.where(values[at] == column, ratios[at], 0.0)
            return total

        return score

    return learn


def _log_ratios(first: Vector, second: Vector) -> tuple[Vector, Vector]:
    """The values seen in training and the log-ratio of their frequencies."""
    values, codes = np.unique(np.concatenate([first, second]), return_inverse=True)
    seen = [np.bincount(part, minlength=len(values)) for part in (codes[: len(first)], codes[len(first) :])]
    return values, np.log((seen[0] + 1.0) / (seen[1] + 1.0))


def _values(y: Outputs) -> Vector:
    return np.asarray(y, dtype=np.float64)


def _fractions(y: Outputs) -> Vector:
    """What lies behind the point: nothing, when answers are integers."""
    return np.asarray(y - np.floor(y), dtype=np.float64)


def grid_exponents(y: Outputs) -> Vector:
    """The largest e such that y is a multiple of 2^e: the low bits that floating-point addition leaves behind."""
    fraction, exponent = np.frexp(np.asarray(y, dtype=np.float64))
    mantissa = (fraction * 2.0**53).astype(np.int64)
    lowest_bit = np.frexp((mantissa & -mantissa).astype(np.float64))[1] - 1
    return np.where(mantissa == 0, 2000.0, exponent - 53.0 + lowest_bit)


LEARNERS: dict[str, Learner] = {
    "distances": learn_distances,
    "means": learn_means,
    "exact values": _learn_frequencies(_values),
    "fractions": _learn_frequencies(_fractions),
    "low bits": _learn_frequencies(grid_exponents),
}
