"""Declared taxonomies as trees: the strategy that follows region → state → county."""

from __future__ import annotations

import numpy as np

from rowspace.domain import Categorical, Domain
from rowspace.operators import Operator, Permuted, Tree


def taxonomy_trees(domain: Domain) -> dict[int, Operator]:
    """Attribute number → tree along its levels, for every attribute that declares some."""
    trees = {}
    for number, name in enumerate(domain.names):
        attribute = domain[name]
        if isinstance(attribute, Categorical) and attribute.levels:
            trees[number] = _tree(attribute)
    return trees


def _tree(attribute: Categorical) -> Operator:
    # Coarsest level first; sorting cells by their path makes the cells below every node neighbours.
    groups = [np.asarray(attribute.level(name).groups) for name in reversed(list(attribute.levels))]
    order = np.lexsort(groups[::-1])
    bounds = [np.array([0, attribute.size])]
    for group in groups:
        bounds.append(np.concatenate(([0], np.flatnonzero(np.diff(group[order])) + 1, [attribute.size])))
    bounds.append(np.arange(attribute.size + 1))
    tree = Tree(tuple(bounds), (1.0,) * len(bounds))
    return tree if np.array_equal(order, np.arange(attribute.size)) else Permuted(tree, order)
