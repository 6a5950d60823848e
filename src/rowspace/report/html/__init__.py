"""A release as a self-contained web page: asks the release, computes nothing about privacy.

page      the whole, as views that templates/report.html writes down
gallery   which charts        listing   the answers one by one
promise, planned, budget      the other parts
"""

from .budget import Spending
from .page import report_page, write_report

__all__ = ["Spending", "report_page", "write_report"]
