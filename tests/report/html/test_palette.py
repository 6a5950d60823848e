"""Colours can be read by people who see less contrast (WCAG 2.2: 4.5 : 1 for text, 3 : 1 for marks)."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from rowspace.drawing import DARK, LIGHT

Palette = Mapping[str, str]
GROUNDS = ("page", "surface", "raised")


def luminance(colour: str) -> float:
    """WCAG's relative luminance of an sRGB colour."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    bright, dim = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


def test_the_scale_ends_where_it_should() -> None:
    assert round(contrast("#000000", "#ffffff"), 6) == 21


@pytest.mark.parametrize("palette", [LIGHT, DARK])
@pytest.mark.parametrize("text", ["ink", "muted", "accent", "good"])
def test_texts(palette: Palette, text: str) -> None:
    assert min(contrast(palette[text], palette[ground]) for ground in GROUNDS) >= 4.5


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_figures_on_the_darkest_cell_of_a_heat_map(palette: Palette) -> None:
    assert contrast(palette["ink"], palette["heat"]) >= 4.5


@pytest.mark.parametrize("palette", [LIGHT, DARK])
@pytest.mark.parametrize("mark", ["bar", "mark", "series1", "series2", "series3", "series4"])
def test_marks(palette: Palette, mark: str) -> None:
    assert contrast(palette[mark], palette["surface"]) >= 3


def test_both_themes_name_the_same_colours() -> None:
    assert LIGHT.keys() == DARK.keys()
