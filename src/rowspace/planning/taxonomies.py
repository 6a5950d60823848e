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
            trees[number] = _tree(attribute, name in domain.places)
    return trees


def _tree(attribute: Categorical, place: bool) -> Operator:
    # Coarsest level first; sorting cells by their path makes the cells below every node neighbours. A missing value
    # is a branch of its own.
    levels = [attribute.level(name) for name in reversed(list(attribute.levels))]
    groups = [np.append(level.groups, level.size) if place else level.groups for level in levels]
    size = attribute.size + place
    order = np.lexsort(groups[::-1])
    bounds = [np.array([0, size])]
    for group in groups:
        bounds.append(np.concatenate(([0], np.flatnonzero(np.diff(group[order])) + 1, [size])))
    bounds.append(np.arange(size + 1))
    tree = Tree(tuple(bounds), (1.0,) * len(bounds))
    return tree if np.array_equal(order, np.arange(size)) else Permuted(tree, order)
