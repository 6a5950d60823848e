"""Workloads of products for tests, given attribute by attribute: no operator over the cells is built."""

from itertools import combinations

import numpy as np
from hypothesis import strategies as st

from rowspace import operators as op
from rowspace.tables import Piece, gather


def products_up_to(operators, ways):
    """All products of up to so many attributes, each asked by its operator."""
    pieces = [Piece((i,), operator) for i, operator in enumerate(operators)]
    sizes = [operator.shape[1] for operator in operators]
    return gather(
        sizes,
        ((1.0, own) for k in range(ways + 1) for own in combinations(pieces, k)),
    )


def as_operator(W):
    """The same workload as a matrix over the cells; every piece is about one attribute."""
    parts = []
    for part, power in zip(W.parts, W.powers, strict=True):
        asked = {W.pieces[k].axes[0]: W.pieces[k].operator for k in part}
        factors = [asked.get(i, op.Total(n)) for i, n in enumerate(W.sizes)]
        parts.append(float(power) ** 0.5 * op.Kronecker(*factors))
    return op.Stack(*parts)


@st.composite
def random_products(draw):
    """Unions of weighted products of cells, ranges, prefixes and other queries over two or three attributes."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = tuple(int(n) for n in rng.choice([1, 2, 3, 4], size=int(rng.integers(2, 4))))
    pieces = {}
    parts = []
    for _ in range(int(rng.integers(1, 4))):
        chosen = [i for i in range(len(sizes)) if rng.random() < 0.6]
        own = []
        for i in chosen:
            n = sizes[i]
            kinds = [op.Identity(n), op.Prefix(n), op.Ranges(n), op.Dense(rng.normal(size=(2, n)))]
            kind = int(rng.integers(len(kinds)))
            own.append(pieces.setdefault((i, kind), Piece((i,), kinds[kind])))
        parts.append((float(rng.choice([0.5, 1.0, 2.0])), tuple(own)))
    return gather(sizes, parts)
