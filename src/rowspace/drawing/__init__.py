"""Figures from plain numbers, with matplotlib: axes in, axes out. Knows nothing of plans and releases.

Each room draws its own values with it (`planning.plots`, `releases.plots`, `error.plots`, `ledger.plots`), so that no
layer has to know a higher one. matplotlib is an extra, imported when something is drawn.
"""

from .axes import axes_or_new
from .bars import bars
from .columns import columns
from .curves import curve, staircase
from .ellipses import ellipse
from .heat import heat_map

__all__ = ["axes_or_new", "bars", "columns", "curve", "ellipse", "heat_map", "staircase"]
