"""Commands whose help shows a switch as a switch: `--json`, not `--json <bool>`."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup


class Command(TyperCommand):
    """A command that takes arguments."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, switches without the name of a type."""
        return _plain_switches(super().get_params(ctx))


class Group(TyperGroup):
    """A command that has commands."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, switches without the name of a type."""
        return _plain_switches(super().get_params(ctx))


def _plain_switches(parameters: list[Any]) -> list[Any]:
    """Take the word for a value from options that take none."""
    for parameter in parameters:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
    return parameters
