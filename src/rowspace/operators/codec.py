"""Operators to and from JSON plus arrays, for plan files. Reading one executes nothing and trusts nothing."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from rowspace.exceptions import FileError, InvalidInput, TooLarge

from .base import Operator

MAX_DEPTH = 32
"""Deepest nesting of operators a file may hold."""

Arrays = dict[str, np.ndarray[Any, Any]]


def encode(operator: Operator) -> tuple[dict[str, Any], Arrays]:
    """(tree, arrays): a JSON-safe description, and the arrays it refers to by name.

    >>> from rowspace.operators import Prefix
    >>> encode(Prefix(5))
    ({'operator': 'Prefix', 'n': 5}, {})
    """
    arrays: Arrays = {}

    def walk(value: Any, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise InvalidInput(
                f"expected operators nested at most {MAX_DEPTH} deep, fields and lists included"
            )
        if isinstance(value, Operator):
            fields = {name: walk(field, depth + 1) for name, field in value.fields().items()}
            return {"operator": type(value).__name__} | fields
        if isinstance(value, np.ndarray):
            name = f"array{len(arrays)}"
            arrays[name] = value
            return {"array": name}
        if isinstance(value, tuple):
            return [walk(item, depth + 1) for item in value]
        return value.item() if isinstance(value, np.generic) else value

    tree = walk(operator, 0)
    assert isinstance(tree, dict)
    return tree, arrays


def decode(tree: Any, arrays: Arrays) -> Operator:
    """The operator that `encode` described; a `FileError` for anything else."""

    def walk(value: Any, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise FileError(f"damaged file: operators nested deeper than {MAX_DEPTH}")
        if isinstance(value, dict) and "operator" in value:
            return build(value, depth)
        if isinstance(value, dict):
            name = value.get("array") if len(value) == 1 else None
            if not isinstance(name, str) or not isinstance(arrays.get(name), np.ndarray):
                raise FileError("damaged file: a matrix refers to an array that is not there")
            return arrays[name]
        if isinstance(value, list):
            return tuple(walk(item, depth + 1) for item in value)
        if value is None or isinstance(value, (int, float)):
            return value
        raise FileError("damaged file: an operator has a field of an unknown kind")

    def build(value: dict[str, Any], depth: int) -> Operator:
        cls = _named_class(value)
        fields = {k: walk(v, depth + 1) for k, v in value.items() if k != "operator"}
        try:
            return cls(**fields)
        except (InvalidInput, TooLarge) as error:
            raise FileError(f"damaged file: {error}") from None
        except (TypeError, AttributeError, ValueError, OverflowError):
            raise FileError(f"damaged file: the fields of {cls.__name__} have the wrong kinds") from None

    operator = walk(tree, 0)
    if not isinstance(operator, Operator):
        raise FileError("damaged file: expected an operator")
    return operator


def _named_class(value: dict[str, Any]) -> type[Operator]:
    """The class that a description names, if it has the fields of that class."""
    cls = Operator.registry.get(value["operator"]) if isinstance(value["operator"], str) else None
    if cls is None or not dataclasses.is_dataclass(cls):
        raise FileError("damaged file: unknown kind of operator")
    known = dataclasses.fields(cls)
    needed = {field.name for field in known if field.default is dataclasses.MISSING}
    if not needed <= set(value) - {"operator"} <= {field.name for field in known}:
        raise FileError(f"damaged file: the fields of {cls.__name__} are not the expected ones")
    return cls
