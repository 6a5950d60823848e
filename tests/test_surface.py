"""The public surface is what __all__ says."""

import importlib
import pkgutil
import subprocess
import sys

import pytest

import rowspace

ROOMS = ["rowspace", *(f"rowspace.{m.name}" for m in pkgutil.iter_modules(rowspace.__path__) if m.ispkg)]


@pytest.mark.parametrize("name", [r for r in ROOMS if r not in ("rowspace.cli", "rowspace.sample")])
def test_all_is_real_sorted_and_complete(name):
    module = importlib.import_module(name)
    assert sorted(set(module.__all__)) == sorted(module.__all__)
    for public in module.__all__:
        assert hasattr(module, public), public


def test_dir_shows_what_is_public():
    assert dir(rowspace) == sorted(rowspace.__all__)


def test_the_contract_of_the_design():
    """Names that users and checks are written against."""
    import rowspace as rs

    root = (
        "Domain Numeric Categorical PureDP ApproxDP ZCDP plan Plan check release workload error operators"
        " strategy"
    )
    families = "ranges prefixes marginals marginal cube identity total predicates matrix"
    structures = "Identity Total Prefix Ranges WidthRanges AllPredicates Hierarchy Haar Dense Sparse Diagonal"
    structures += " Kronecker Stack"
    errors = "total_error max_error query_errors profile"
    for room, names in ((rs, root), (rs.workload, families), (rs.operators, structures), (rs.error, errors)):
        for name in names.split():
            assert hasattr(room, name), name
    optimizers = (
        "MinErrorSDP GaussianOptimal SingularValue MinSensitivity Augment PIdentity Spectral Hierarchical"
    )
    for name in f"{optimizers} Product Union Marginals Residual select".split():
        assert name in rs.strategy.__all__
        assert hasattr(rs.strategy, name), name


WITHOUT_RESEARCH = """
import sys
sys.modules["rowspace_paper"] = None
from rowspace.strategy import *
from rowspace import strategy
assert PIdentity is strategy.PIdentity and dir(strategy) == sorted(strategy.__all__)
assert "MinErrorSDP" not in strategy.__all__
for use in ("strategy.MinErrorSDP", "strategy.least_sensitivity", "strategy.Lost"):
    try:
        eval(use)
    except Exception as error:
        print(type(error).__name__, error)
"""


def test_without_the_second_package_its_names_say_what_to_install():
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_RESEARCH], capture_output=True, text=True, check=True
    )
    advice = "needs rowspace-paper, which is not installed; install it with: pip install 'rowspace[paper]'"
    assert done.stdout.splitlines() == [
        f"InvalidInput strategy.MinErrorSDP {advice}",
        f"InvalidInput strategy.least_sensitivity {advice}",
        "AttributeError module 'rowspace.strategy' has no attribute 'Lost'",
    ]
