"""Charts as HTML and SVG. Texts are HTML at their own size; only the shapes between the axes stretch with the page.

    columns   one attribute in many cells: a histogram with intervals
    bars      few labelled answers: a bar or a point with its interval each
    curves    several series over a numeric attribute, each with its band
    heat      a table of two attributes
    steps     spending against a limit

Colours are CSS variables, so every chart follows the theme. Each chart is one image to a screen reader, with a sentence
for it; the tables of the page hold the figures.
"""

from .bars import Reference, bars
from .columns import columns
from .curves import Series, curves
from .heat import heat
from .steps import steps

__all__ = ["Reference", "Series", "bars", "columns", "curves", "heat", "steps"]
