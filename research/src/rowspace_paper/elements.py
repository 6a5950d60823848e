"""Elements of the paper's page: MarkupSafe escapes their texts and attributes."""

from __future__ import annotations

from markupsafe import Markup, escape


def element(name: str, *children: Markup | str | None, **attributes: str | None) -> Markup:
    """Build an element; ``class_`` is ``class``, ``_`` is ``-`` elsewhere, None leaves a child or an attribute out.

    >>> print(element("p", "1 < 2", class_="note"))
    <p class="note">1 &lt; 2</p>
    """
    written = Markup().join(
        Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), value)
        for key, value in attributes.items()
        if value is not None
    )
    if name == "col":
        return Markup("<{}{}>").format(name, written)
    return Markup("<{}{}>{}</{}>").format(name, written, fragment(*children), name)


def fragment(*children: Markup | str | None) -> Markup:
    """Pieces one after the other; None is nothing."""
    return Markup().join(escape(child) for child in children if child is not None)
