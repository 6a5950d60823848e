"""A release as a self-contained web page: asks the release, computes nothing about privacy.

page      the whole, as views that templates/report.html writes down
gallery   which charts        listing   the answers one by one
promise, planned, budget      the other parts
"""

from ..charts import bars
from ..pages import own_sheet, render
from ..views import Bars, Link, Page, PageTable, Tile
from .budget import Spending
from .page import report_page, write_report
from .promise import promise

__all__ = [
    "Bars",
    "Link",
    "Page",
    "PageTable",
    "Spending",
    "Tile",
    "bars",
    "own_sheet",
    "promise",
    "render",
    "report_page",
    "write_report",
]
