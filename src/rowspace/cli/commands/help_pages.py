"""Commands whose help shows a switch as a switch (`--json`, not `--json <bool>`), and that complete words at once."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup


class Command(TyperCommand):
    """A command that takes arguments."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, switches without the name of a type."""
        return _adapted(super().get_params(ctx), ctx)


class Group(TyperGroup):
    """A command that has commands."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, switches without the name of a type."""
        return _adapted(super().get_params(ctx), ctx)


def _adapted(parameters: list[Any], ctx: Any) -> list[Any]:
    """Take the word for a value from options that take none; while words are completed, convert no value."""
    for parameter in parameters:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
        if ctx.resilient_parsing:
            # Nobody looks at the values then, and what converts them takes a tenth of a second to load.
            parameter.process_value = _as_typed
    return parameters


def _as_typed(ctx: Any, value: Any) -> Any:
    """The value as it was typed."""
    return value
