"""All chapters in the paper's order."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from rowspace._version import __version__

from .appendix import appendix
from .approximations import approximations
from .augmentation import augmentation
from .background import background
from .comparison import comparison
from .eigenvalues import eigenvalues
from .estimates import estimates
from .extent import Extent
from .gaussian import gaussian
from .growth import growth
from .open_questions import open_questions
from .profiles import profiles
from .programs import programs
from .record import Chapter, Claim, Verdict

CHAPTERS: tuple[Callable[[Extent], Chapter], ...] = (
    background,
    estimates,
    profiles,
    programs,
    approximations,
    gaussian,
    augmentation,
    eigenvalues,
    comparison,
    growth,
    appendix,
    open_questions,
)


@dataclass(frozen=True)
class Reproduction:
    """The whole paper, reproduced."""

    chapters: tuple[Chapter, ...]
    extent: Extent
    seconds: float

    @property
    def claims(self) -> list[Claim]:
        """All claims, in the paper's order."""
        return [claim for chapter in self.chapters for claim in chapter.claims]

    def count(self, verdict: Verdict) -> int:
        """How many claims came out so."""
        return Counter(claim.verdict for claim in self.claims)[verdict]

    def to_dict(self) -> dict[str, Any]:
        """Everything, for the JSON; the seconds are the only part that differs from run to run."""
        return {
            "rowspace": __version__,
            "extent": self.extent.name,
            "seconds": round(self.seconds, 2),
            "verdicts": {str(verdict): self.count(verdict) for verdict in Verdict},
            "chapters": [chapter.to_dict() for chapter in self.chapters],
        }


def reproduce(extent: Extent, finished: Callable[[Chapter], None] | None = None) -> Reproduction:
    """Compute every chapter; `finished` hears of each as it is done. Nothing is random but by fixed seeds.

    Cost: about ten seconds for `QUICK`, a minute or two for `FULL`.
    """
    started = time.perf_counter()
    chapters = tuple(_computed(extent, finished))
    return Reproduction(chapters, extent, time.perf_counter() - started)


def _computed(extent: Extent, finished: Callable[[Chapter], None] | None) -> Iterator[Chapter]:
    for compute in CHAPTERS:
        chapter = compute(extent)
        if finished is not None:
            finished(chapter)
        yield chapter
