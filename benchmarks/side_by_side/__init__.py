"""Cases: rowspace, what the package index has, and a floor, on the same work.

One module for each topic; each has `CASES`. `python -m benchmarks` runs them.
"""

from __future__ import annotations

from ..harness import Case
from . import counting, measuring, planning, reconstructing, releasing, sampling

CASES: tuple[Case, ...] = (
    *planning.CASES,
    *measuring.CASES,
    *reconstructing.CASES,
    *sampling.CASES,
    *counting.CASES,
    *releasing.CASES,
)

TOPICS = tuple(dict.fromkeys(case.topic for case in CASES))
