"""Labelled answers, one to a row: a bar from zero, a point, the interval, and the figure in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rowspace.markup import Markup, element

from ..scales import EXTENT, Scale, coordinate, covering


@dataclass(frozen=True)
class Reference:
    """A line across all rows, such as a bound, with its name."""

    value: float
    name: str


def bars(
    labels: Sequence[str],
    values: Sequence[float],
    figures: Sequence[str],
    description: str,
    *,
    intervals: Sequence[tuple[float, float]] | None = None,
    reference: Reference | None = None,
) -> Markup:
    """Horizontal bars of `values`; `figures` is what stands at the end of each row."""
    ends = [end for interval in intervals or () for end in interval]
    scale = covering([*values, *ends, *([reference.value] if reference else [])])
    rows = [
        cell
        for row, (label, value, figure) in enumerate(zip(labels, values, figures, strict=True))
        for cell in (
            element("span", label, class_="row-label"),
            _row(scale, value, None if intervals is None else intervals[row], reference),
            element("span", figure, class_="row-figure"),
        )
    ]
    drawn = element("div", *rows, class_="rows", role="img", aria_label=description)
    if reference is None:
        return drawn
    mark = element("i", class_="reference-key", aria_hidden="true")
    return element("div", element("p", element("span", mark, reference.name), class_="key"), drawn)


def _row(
    scale: Scale, value: float, interval: tuple[float, float] | None, reference: Reference | None
) -> Markup:
    """The shapes of one row, in an area of its own so that a long label may take two lines."""
    left, right = sorted((EXTENT * scale.share(0.0), EXTENT * scale.share(value)))
    shapes = [
        element(
            "rect", x=coordinate(left), y="24", width=coordinate(right - left), height="52", class_="bar"
        ),
        _upright(scale.across(0.0), "zero"),
    ]
    if interval is not None:
        low, high = (scale.across(end) for end in interval)
        shapes.append(element("line", x1=low, x2=high, y1="50", y2="50", class_="interval strong"))
    if reference is not None:
        shapes.append(_upright(scale.across(reference.value), "reference"))
    return element(
        "svg",
        *shapes,
        viewBox=f"0 0 {EXTENT:g} 100",
        preserveAspectRatio="none",
        aria_hidden="true",
        focusable="false",
    )


def _upright(at: str, kind: str) -> Markup:
    """A line from the top to the bottom of a row."""
    return element("line", x1=at, x2=at, y1="0", y2="100", class_=kind)
