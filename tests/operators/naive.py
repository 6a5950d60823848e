"""Dense matrices by plain loops over their definitions: the truth the structures are held against.

Nothing here touches an operator. Slow and obvious on purpose.
"""

import itertools

import numpy as np


def identity(n):
    return np.array([[float(i == j) for j in range(n)] for i in range(n)])


def total(n):
    return np.array([[1.0] * n])


def prefix(n):
    return np.array([[float(j <= i) for j in range(n)] for i in range(n)])


def difference(n):
    return np.array([[float(i == j) - float(i == j + 1) for j in range(n)] for i in range(n)])


def ranges(n):
    pairs = [(first, last) for first in range(n) for last in range(first, n)]
    return np.array([[float(first <= j <= last) for j in range(n)] for first, last in pairs])


def ranges_gram(n):
    return np.array(
        [[float(min(i, j) * (n + 1 - max(i, j))) for j in range(1, n + 1)] for i in range(1, n + 1)]
    )


def second_difference(n):
    return np.array([[2.0 * (i == j) - float(abs(i - j) == 1) for j in range(n)] for i in range(n)])


def width_ranges(n, width):
    return np.array([[float(i <= j < i + width) for j in range(n)] for i in range(n - width + 1)])


def window_overlap_inverse(rows, width):
    overlaps = np.array([[float(max(width - abs(i - j), 0)) for j in range(rows)] for i in range(rows)])
    return np.linalg.inv(overlaps)


def marginals(sizes, sets, weights):
    """One table per set, cell by cell: which cells of the domain agree with it."""
    cells = list(itertools.product(*map(range, sizes)))
    rows = []
    for attributes, weight in zip(sets, weights, strict=True):
        for values in itertools.product(*(range(sizes[i]) for i in attributes)):
            rows.append([weight * float(tuple(cell[i] for i in attributes) == values) for cell in cells])
    return np.array(rows)


def residuals(sizes, sets, weights):
    """n·[agree] − 1 along every attribute of a set, multiplied."""
    cells = list(itertools.product(*map(range, sizes)))
    rows = []
    for attributes, weight in zip(sets, weights, strict=True):
        for values in itertools.product(*(range(sizes[i]) for i in attributes)):
            factors = [[sizes[i] * (cell[i] == v) - 1 for i, v in zip(attributes, values)] for cell in cells]  # noqa: B905
            rows.append([weight * float(np.prod(f)) for f in factors])
    return np.array(rows)


def product_tables(sizes, sets, weights, matrices):
    """The matrix of every attribute of a set, ones for the others, multiplied."""
    tables = []
    for attributes, weight in zip(sets, weights, strict=True):
        factors = [matrices[i] if i in attributes else total(n) for i, n in enumerate(sizes)]
        tables.append(weight * kronecker(*factors))
    return stack(*tables)


def all_predicates(n):
    return np.array(list(itertools.product((0.0, 1.0), repeat=n)))


def uniform_gram(n, a, b):
    return np.array([[a * (i == j) + b for j in range(n)] for i in range(n)])


def hierarchy(n, branching=2, weights=None):
    """Blocks of 1, b, b², … cells until one block holds everything; the root's level comes first."""
    sizes = [1]
    while sizes[-1] < n:
        sizes.append(sizes[-1] * branching)
    weights = [1.0] * len(sizes) if weights is None else weights
    rows = []
    for size, weight in zip(reversed(sizes), weights, strict=True):
        for start in range(0, n, size):
            rows.append([weight * (start <= j < start + size) for j in range(n)])
    return np.array(rows, dtype=float)


def tree(bounds, weights):
    n = bounds[-1][-1]
    rows = []
    for level, weight in zip(bounds, weights, strict=True):
        for start, stop in itertools.pairwise(level):
            rows.append([weight * (start <= j < stop) for j in range(n)])
    return np.array(rows, dtype=float)


def haar(n, weights=None):
    levels = n.bit_length()
    weights = [1.0] * levels if weights is None else weights
    rows = [[weights[0]] * n]
    for level in range(1, levels):
        block = n >> (level - 1)
        for start in range(0, n, block):
            middle, stop = start + block // 2, start + block
            rows.append(
                [weights[level] * ((start <= j < middle) - (middle <= j < stop)) for j in range(n)],
            )
    return np.array(rows, dtype=float)


def diagonal(values):
    return np.array([[float(v) * (i == j) for j in range(len(values))] for i, v in enumerate(values)])


def kronecker(*factors):
    """Entry ((i₁, i₂, …), (j₁, j₂, …)) is the product of the factors' entries, last index fastest."""
    rows = list(itertools.product(*(range(len(f)) for f in factors)))
    columns = list(itertools.product(*(range(len(f[0])) for f in factors)))
    return np.array(
        [
            [np.prod([f[i, j] for f, i, j in zip(factors, row, column, strict=True)]) for column in columns]
            for row in rows
        ]
    )


def stack(*parts):
    return np.array([list(row) for part in parts for row in part], dtype=float)


def permuted(matrix, order):
    """(A x[order])ᵢ = Σₖ aᵢₖ x[order[k]]: column k of A lands in column order[k]."""
    out = np.zeros_like(matrix)
    for k, cell in enumerate(order):
        out[:, cell] = matrix[:, k]
    return out


def merged(matrix, groups):
    """Cell j has column groups[j] of A."""
    return np.column_stack([matrix[:, group] for group in groups])


def product(left, right):
    return np.array(
        [
            [sum(left[i, k] * right[k, j] for k in range(len(right))) for j in range(right.shape[1])]
            for i in range(len(left))
        ]
    )


def column_sums(matrix, p):
    """Σ|a|ᵖ per column; exact Python integers when the entries are."""
    return [sum(abs(a) ** p for a in column) for column in np.asarray(matrix).T.tolist()]


def sines(n):
    k, j = np.arange(1, n + 1)[:, None], np.arange(1, n + 1)
    rows = np.sqrt(2 / n) * np.sin(np.pi * k * (j - 0.5) / n)
    rows[-1] /= np.sqrt(2)
    return rows


def cosines(n):
    k, j = np.arange(1, n + 1)[:, None], np.arange(1, n + 1)
    return np.sqrt(2 / n) * np.cos(np.pi * (k - 0.5) * (j - 0.5) / n)


def mirrored(kernel, sign):
    """kernel(|i − j|) + sign·kernel(i + j + 1)."""
    n = len(kernel) // 2
    return np.array(
        [[kernel[abs(i - j)] + sign * kernel[i + j + 1] for j in range(n)] for i in range(n)], float
    )


def padded(matrix, rows, columns):
    """Zeros to the right and below."""
    matrix = np.asarray(matrix, dtype=float)
    return np.pad(matrix, [(0, rows - matrix.shape[0]), (0, columns - matrix.shape[1])])


def extended(matrix, sizes, box, weight):
    """The matrix on the cells of a box, one row for each other cell."""
    rows = []
    inside = [cell for cell in np.ndindex(*sizes) if all(c < b for c, b in zip(cell, box, strict=True))]
    number = {cell: at for at, cell in enumerate(np.ndindex(*sizes))}
    for row in np.asarray(matrix, dtype=float):
        full = np.zeros(len(number))
        full[[number[cell] for cell in inside]] = row
        rows.append(full)
    for cell, at in number.items():
        if cell not in inside:
            rows.append(np.eye(len(number))[at] * weight)
    return np.array(rows)


def query_mix(sizes, axes, vectors, numbers, mixes, beyond):
    """Query by query: products of vectors, mixed, and contrasts where cells are contrasted."""
    order = [i for own in axes for i in own]
    blocks = []
    for own, mix, contrast in zip(numbers, mixes, beyond, strict=True):
        width = [1 if c < 0 else int(np.sum(V[c])) for V, c in zip(vectors, contrast, strict=True)]
        out = np.zeros((len(mix), *width, int(np.prod(sizes))))
        for place in np.ndindex(*width):
            rows = []
            for k in own:
                factors = []
                for V, number, c, at in zip(vectors, k, contrast, place, strict=True):
                    cells = np.flatnonzero(V[c]) if c >= 0 else []
                    unit = np.array(V[number], dtype=float)
                    if c >= 0:
                        unit = -1.0 * np.isin(np.arange(V.shape[1]), cells)
                        unit[cells[at]] += len(cells)
                    factors.append(unit)
                whole = np.array(1.0)
                for factor in factors:
                    whole = np.multiply.outer(whole, factor)
                whole = whole.reshape([sizes[i] for i in order])
                rows.append(whole.transpose([order.index(i) for i in range(len(order))]).ravel())
            out[(slice(None), *place)] = np.array(mix) @ np.array(rows)
        blocks.append(out.reshape(-1, out.shape[-1]))
    return np.concatenate(blocks)


def fading(horizon, weights):
    """The triangle of up to seven periods: blocks of one and two are seen entry by entry, one of four along a line."""
    n, unit = len(weights), 1 / (horizon + 1)
    out = np.diag(weights).astype(float)

    def hump(x):
        return 16 * x * (1 - x) / (5 - 4 * x * (1 - x))

    def entry(t, s):
        k, T = t - s, (t + 1) * unit
        lag = (k + 0.25 + 1 / (32 * k + 14.6)) * unit
        return weights[s] * np.sqrt(1.6 / np.pi * unit * hump(T) / (hump(lag / 2) * hump(T - lag / 2)))

    for t in range(n):
        for s in range(t):
            out[t, s] = np.rint(entry(t, s))
        pairs = [a for a in (0, 2) if t >= a + 3] if t < 6 else [2]
        for a in pairs:
            out[t, a : a + 2] = _line(entry(t, a), entry(t, a + 1), [-1, 1], 2)
        if t >= 6:
            out[t, :4] = _line(entry(t, 0), entry(t, 3), [-3, -1, 1, 3], 6)
    return out


def _line(early, late, along, width):
    return np.rint((early + late) / 2) + np.rint((late - early) / width) * np.array(along)
