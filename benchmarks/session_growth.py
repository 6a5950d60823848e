"""Whether a session slows down: 10,000 questions over 1,000 cells, and the same ledger opened anew.

    python -m benchmarks.session_growth          # 10,000 questions, a minute or two
    python -m benchmarks.session_growth 1000

Ranges of age by group, with accuracies from ±100 to ±20, and every hundredth a question unlike those expected. CPU
milliseconds of free and of paid questions, in each tenth of the stream; counting the source is not among them.
"""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import rowspace as rs

AGES, GROUPS = 100, 10


@dataclass(frozen=True)
class Growth:
    """CPU seconds of questions in order, whether each was paid for, and those of opening the ledger anew."""

    seconds: list[float]
    paid: list[bool]
    rebuilt: float
    purchases: int

    def medians(self, paid: bool) -> list[float]:
        """Milliseconds, for each tenth of the stream; not a number where there was none of the kind."""
        whole = np.where(np.array(self.paid) == paid, self.seconds, np.nan)
        tenths = np.array_split(whole[1:], 10)  # the first one plans what is expected
        return [float(np.nanmedian(own)) * 1000 if np.isfinite(own).any() else np.nan for own in tenths]


def asked(number: int, rng: np.random.Generator) -> tuple[str, float]:
    """A question, and the half-width that it needs."""
    low, high = sorted(rng.integers(0, AGES, 2).tolist())
    group = int(rng.integers(GROUPS))
    within = float(rng.uniform(20, 100))
    if number % 100 == 99:
        return f"age = {low} and g in ({group}, {(group + 3) % GROUPS}) or age = {high}", within
    return f"age >= {low} and age <= {high} and g = {group}", within


def growth(questions: int = 10_000) -> Growth:
    """The stream through one session, then one question of another on the same ledger."""
    domain = rs.Domain(
        age=rs.Numeric(0, AGES, bins=AGES, integer=True, outside="drop"),
        g=rs.Categorical(range(GROUPS), outside="drop"),
    )
    expected = rs.workload.product(domain, age="ranges", g="identity") + rs.workload.ranges(domain, "age")
    counts = np.full(domain.shape, 30)
    rng = np.random.default_rng(4)
    with tempfile.TemporaryDirectory() as folder:
        ledger = rs.Ledger(Path(folder) / "budget.db")
        ledger.create("people", rs.ZCDP(1e6))
        session = rs.Session(domain, counts, ledger=ledger, expecting=expected)
        seconds, paid = [], []
        for number in range(questions):
            text, within = asked(number, rng)
            started = time.process_time()
            answer = session.ask(text, within=within)
            seconds.append(time.process_time() - started)
            paid.append(answer.cost > 0)
        started = time.process_time()
        again = rs.Session(domain, counts, ledger=ledger, expecting=expected)
        again.ask(text, within=within)
        return Growth(seconds, paid, time.process_time() - started, session.budget.charges)


def figures() -> tuple[float, ...]:
    """Milliseconds of a free and of a paid question, the last free tenth over the first, seconds to open it anew."""
    found = growth()
    free = found.medians(False)
    return float(np.nanmedian(free)), float(np.nanmax(found.medians(True))), free[-1] / free[0], found.rebuilt


if __name__ == "__main__":
    found = growth(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
    for kind in (False, True):
        medians = " ".join(f"{value:7.1f}" for value in found.medians(kind))
        print(f"{'paid' if kind else 'free'}, ms by tenth of the stream: {medians}")
    print(f"{found.purchases} purchases, opened anew and asked in {found.rebuilt:.2f} CPU s")
