"""A release as a self-contained web page: asks the release, computes nothing about privacy.

page      the whole, as views that templates/report.html writes down
gallery   which charts        listing   the answers one by one
promise, planned, budget      the other parts
"""

from ..charts import bars as bars
from ..pages import own_sheet as own_sheet
from ..pages import render as render
from ..views import Bars as Bars
from ..views import Link as Link
from ..views import Page as Page
from ..views import PageTable as PageTable
from ..views import Tile as Tile
from .budget import Spending
from .page import report_page, write_report
from .promise import promise as promise

__all__ = [
    "Spending",
    "report_page",
    "write_report",
]
