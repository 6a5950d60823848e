"""Where the search for a p-Identity strategy starts: rows shaped like tents, in levels.

Over ordered cells the best rows found from anywhere are overlapping tents, about 20 cells from peak to peak; once
there are dozens of them, a level of tents some 16 times as wide is worth its share of the budget, and so on. Started
there, the search needs no luck. Which spacing and how many levels pay depends on the workload: several are tried.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from rowspace.operators import DENSE_LIMIT, Indices, Operator, Vector

from .p_identity_loss import PIdentityLoss, Support

SPACINGS = (20, 17, 15)
"""Cells for each row of Θ that are tried when p is left open: the best for ranges and prefixes of any size."""

FINER, COARSER = (11, 8, 5, 3), (27, 40, 60, 90)
"""Spacings tried next, for workloads of narrow or wide windows only."""

MANY_CELLS = 2**13
"""Past so many cells a step takes half a second: only the start of least error goes on."""

WIDENING = 16
"""Tents of one level to one of the next."""

OVERLAP = 1.15
"""Half the width of a tent, in spacings: neighbours overlap, as they do in every optimum seen."""

REACH = 2.0
"""Half the width a row may grow to, in spacings; the optimum uses about 1.4."""

BLOCK = 8
"""Spacings of the finest level to one block of cells that shares its rows."""

UNUSED = 1e-3
"""A level whose best height is below this is not worth having."""

LEAST = 0.1
"""Least height to start from."""


@dataclass(frozen=True)
class Start:
    """A loss over the entries of some support, the entries to start from, and the loss there."""

    name: str
    loss: PIdentityLoss
    entries: Vector
    value: float


def starts(W: Operator, p: int | None) -> list[Start]:
    """Starts worth racing for this workload, with p rows, or with the usual numbers of rows and with one.

    >>> from rowspace import operators as op
    >>> [start.name for start in starts(op.Prefix(64), None)]
    ['1', '3', '4']
    """
    n = W.shape[1]
    if p is not None:
        return _distinct(_with_and_without_top(W, p))
    found = [tent_start(W, (1,))]
    tried: list[Start] = []
    for spacing in SPACINGS if n <= MANY_CELLS else SPACINGS[:1]:
        tried += _with_and_without_top(W, max(1, round(n / spacing)))
    for others in (COARSER, FINER):
        more = _while_better(W, others, min(start.value for start in tried))
        tried += more
        if more and n > MANY_CELLS:
            break  # fewer rows do better, so more of them do not
    if n > MANY_CELLS:
        return [min(found + tried, key=lambda start: start.value)]
    return _distinct(found + tried)


def _while_better(W: Operator, spacings: tuple[int, ...], value: float) -> list[Start]:
    """Further spacings in order, as long as they fit and each starts from less error than the last."""
    found: list[Start] = []
    n = W.shape[1]
    for spacing in spacings:
        rows = max(1, round(n / spacing))
        if rows * n > DENSE_LIMIT or (start := tent_start(W, levels(rows))).value >= value:
            break
        found.append(start)
        value = start.value
    return found


def _with_and_without_top(W: Operator, rows: int) -> list[Start]:
    """Levels of tents, and the same with one row on top of them where that row is used."""
    plain = tent_start(W, levels(rows))
    if rows == 1:
        return [plain]
    topped = tent_start(W, (*levels(rows - 1), 1))
    return [plain, topped] if topped.loss.support.rows == rows else [plain]


def _distinct(found: list[Start]) -> list[Start]:
    """Without those that came out with the same numbers of rows."""
    return list({start.name: start for start in found}.values())


def levels(rows: int) -> tuple[int, ...]:
    """Tents on each level, finest first.

    >>> levels(68)
    (64, 4)
    """
    wider = rows // (WIDENING + 1)
    return (rows - wider, *levels(wider)) if wider else (rows,)


def tent_start(W: Operator, layout: tuple[int, ...]) -> Start:
    """Tents with the best height for each level; a last level that is better left out is left out."""
    support, shapes, level = tents(W.shape[1], layout)
    loss = PIdentityLoss(W, support)

    def of_heights(heights: Vector) -> tuple[float, Vector]:
        value, gradient = loss(heights[level] * shapes)
        slopes = np.bincount(level, gradient * shapes, minlength=len(layout))
        return value, np.asarray(slopes, dtype=np.float64)

    bounds = [(0.0, None)] * len(layout)
    first = np.full(len(layout), 0.7)
    fit = scipy.optimize.minimize(
        of_heights, first, jac=True, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-4}
    )
    if len(layout) > 1 and fit.x[-1] < UNUSED:
        return tent_start(W, layout[:-1])
    # At zero the search would stay: there the gradient points outwards for tents, if not for other shapes.
    heights = np.maximum(fit.x, LEAST)
    return Start(" + ".join(map(str, layout)), loss, heights[level] * shapes, float(fit.fun))


def tents(n: int, layout: tuple[int, ...]) -> tuple[Support, Vector, Indices]:
    """The support, the entries of tents of height one, and the level every entry belongs to."""
    counts = np.array(layout)
    level = np.repeat(np.arange(len(layout)), counts)
    spacing = n / counts[level]
    peak = np.concatenate([(np.arange(count) + 0.5) * n / count for count in layout])
    # A single row has no neighbours to share with: it starts flat.
    half = np.where(counts[level] == 1, np.inf, OVERLAP * spacing)
    width = max(1, round(BLOCK * n / layout[0]))
    support = Support.of_windows(peak - REACH * spacing, peak + REACH * spacing, n, width)
    shapes, level_of = np.empty(support.entries), np.empty(support.entries, dtype=np.int64)
    filled = zip(support.blocks(shapes), support.blocks(level_of), support.active, support.spans, strict=True)
    for shape, numbers, rows, (a, b) in filled:
        distance = np.abs(np.arange(a, b) + 0.5 - peak[rows, None])
        shape[:] = np.maximum(1.0 - distance / half[rows, None], 0.0)
        numbers[:] = level[rows, None]
    return support, shapes, level_of


def random_start(W: Operator, p: int, rng: np.random.Generator) -> Start:
    """Every entry drawn evenly from [0, 1): for cells whose order means nothing."""
    loss = PIdentityLoss(W, Support.full(p, W.shape[1]))
    entries = rng.random(loss.support.entries)
    return Start(f"{p} at random", loss, entries, loss(entries)[0])
