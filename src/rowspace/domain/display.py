"""A domain in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from rowspace.notebook import notebook_table

if TYPE_CHECKING:
    from .schema import Domain

_ROWS_SHOWN = 30


def domain_html(domain: Domain) -> str:
    """Every attribute with its number of cells and what they hold; the first thirty."""
    size = str(domain).splitlines()[0].removeprefix("Domain of ")
    rows = [
        [name, str(attribute), f"{attribute.size:,}"] for name, attribute in domain.attributes[:_ROWS_SHOWN]
    ]
    left_out = len(domain) - len(rows)
    return notebook_table(
        Markup("<strong>Domain</strong> of {}").format(size),
        ["attribute", "values", "cells"],
        rows,
        f"… and {left_out:,} more" if left_out else "",
        words=2,
    )
