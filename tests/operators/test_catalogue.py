"""The catalogue misses no structure, and its truths have the shapes the operators claim."""

from rowspace import operators as op

from .catalogue import CASES, every_case

ABSTRACT = {"TableOperator"}
RENAMED = {"ProductMarginals", "ProductResiduals"}  # what files of 0.1 call tables with matrices of their own
ROOMS = ("rowspace.operators", "rowspace.tables")


def test_every_structure_is_in_the_catalogue():
    defined = {name for name, cls in op.Operator.registry.items() if cls.__module__.startswith(ROOMS)}
    shown = {type(case.operator).__name__ for case in CASES}
    assert defined - ABSTRACT - RENAMED == shown


def test_every_public_structure_is_registered():
    public = {name for name in op.__all__ if isinstance(getattr(op, name), type)} - {"Operator"}
    assert public <= set(op.Operator.registry)


def test_case_names_are_distinct():
    names = [(type(case.operator), case.name) for case in CASES]
    assert len(set(names)) == len(names)


def test_public_surface_is_sorted_and_real():
    assert all(hasattr(op, name) for name in op.__all__)
    assert len(set(op.__all__)) == len(op.__all__)


@every_case
def test_shape(case):
    assert case.operator.shape == case.dense.shape
    assert all(type(size) is int for size in case.operator.shape)
