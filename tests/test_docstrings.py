"""Every public function and method says what it takes, and shows it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from enum import EnumType
from typing import Any

import pytest

import rowspace as rs
from rowspace.planning import TargetPlan
from rowspace.releases import Consistent, CrossTable, Estimate


def public() -> Iterator[tuple[str, Any]]:
    """Functions of `rs` and of `rs.workload`, classes of `rs` and of what their methods return, and all methods."""
    names = [(f"rs.{name}", getattr(rs, name)) for name in rs.__all__]
    families = [(f"rs.workload.{name}", getattr(rs.workload, name)) for name in rs.workload.__all__]
    names += [(name, family) for name, family in families if inspect.isfunction(family)]
    names += [(kind.__name__, kind) for kind in (Consistent, CrossTable, Estimate, TargetPlan)]
    for name, value in names:
        if inspect.isfunction(value):
            yield name, value
        elif inspect.isclass(value) and not issubclass(value, Exception):
            yield name, value
            for method, member in inspect.getmembers(value):
                if not method.startswith("_") and (inspect.isfunction(member) or inspect.ismethod(member)):
                    yield f"{name}.{method}", member


PUBLIC = dict(public())


def parameters(value: Any) -> list[str]:
    """What somebody has to know of to call it."""
    if isinstance(value, EnumType):
        return []
    found = inspect.signature(value).parameters
    return [name for name in found if name not in ("self", "cls") and not name.startswith("_")]


@pytest.mark.parametrize("name", PUBLIC)
def test_parameters_are_named(name):
    text = inspect.getdoc(PUBLIC[name]) or ""
    assert text
    missing = [word for word in parameters(PUBLIC[name]) if not re.search(rf"\b{word}\b", text)]
    assert missing == []


@pytest.mark.parametrize("name", PUBLIC)
def test_there_is_an_example(name):
    assert ">>>" in (inspect.getdoc(PUBLIC[name]) or "")
