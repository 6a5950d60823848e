"""The second package, `rowspace_paper`: the one place of the product that imports it, when something of it is used."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from .exceptions import InvalidInput

_PACKAGE = "rowspace_paper"


def installed() -> bool:
    """Whether the second package is there; it is not loaded to find out."""
    return find_spec(_PACKAGE) is not None


def load(module: str, wanted: str) -> ModuleType:
    """A module of the second package; without the package, `InvalidInput` that says what `wanted` needs."""
    if not installed():
        raise InvalidInput(
            f"{wanted} needs rowspace-paper, which is not installed; install it with: pip install 'rowspace[paper]'"
        )
    return import_module(f"{_PACKAGE}.{module}")
