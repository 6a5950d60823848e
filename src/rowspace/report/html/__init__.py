"""A release as a self-contained web page: asks the release, computes nothing about privacy.

page        the whole            gallery   which charts        charts/   how they are drawn
asking      what they show       answers, planned, privacy, budget       the other parts
"""

from .budget import Spending
from .page import report_page, write_report

__all__ = ["Spending", "report_page", "write_report"]
