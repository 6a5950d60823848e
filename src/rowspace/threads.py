"""How many threads linear algebra may use: one for small matrices.

Threads that share a matrix of a few hundred cells spend their time waiting for one another. On an idle machine that is
a small loss; on a busy one it has been measured at a hundred times the work itself.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache

from threadpoolctl import ThreadpoolController

SMALL = 2048
"""Cells up to which one thread is used."""


def one_thread_if_small(cells: int) -> AbstractContextManager[object]:
    """Limit BLAS to one thread inside the block when the matrices have at most `SMALL` cells."""
    limited: AbstractContextManager[object]
    limited = _controller().limit(limits=1, user_api="blas") if cells <= SMALL else nullcontext()
    return limited


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    """Looking for the loaded libraries takes milliseconds: done once."""
    return ThreadpoolController()
