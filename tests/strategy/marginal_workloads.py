"""Workloads of marginals for tests."""

from itertools import combinations

from hypothesis import strategies as st

from rowspace import operators as op


def one_marginal(sizes, attributes):
    return op.Kronecker(*(op.Identity(n) if i in attributes else op.Total(n) for i, n in enumerate(sizes)))


def all_marginals(sizes, ways):
    """All marginals over as many attributes as `ways` lists; factors are shared."""
    identities, totals = [op.Identity(n) for n in sizes], [op.Total(n) for n in sizes]
    return op.Stack(
        *(
            op.Kronecker(*(identities[i] if i in chosen else totals[i] for i in range(len(sizes))))
            for k in ways
            for chosen in combinations(range(len(sizes)), k)
        )
    )


@st.composite
def random_workloads(draw):
    """Unions of weighted marginals of few cells, some attributes of one cell, some marginals twice or not at all."""
    sizes = tuple(draw(st.lists(st.integers(1, 3), min_size=1, max_size=4)))
    subsets = [chosen for k in range(len(sizes) + 1) for chosen in combinations(range(len(sizes)), k)]
    asked = draw(st.lists(st.sampled_from(subsets), min_size=1, max_size=5))
    weights = [1.0, *(draw(st.sampled_from([0.0, 0.5, 1.0, -3.0])) for _ in asked[1:])]
    return op.Stack(*(w * one_marginal(sizes, s) for w, s in zip(weights, asked, strict=True)))
