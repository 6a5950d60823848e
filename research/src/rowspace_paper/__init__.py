"""The paper reproduced: every figure, table, example and numeric claim beside what we compute, with a verdict.

    record        claims, tables, charts, chapters         extent          how far: quick or full
    background, estimates, profiles                        Sections 1 to 4
    programs, approximations, augmentation, gaussian       Section 5, Appendices B to D
    eigenvalues, comparison, growth, worst_queries         Section 6, Appendix F
    appendix                                               Appendices A, E, G
    open_questions                                         what the paper left open
    reproduction  all chapters in order                    page, drawing, document   how they are shown

Theorems have the numbers of the conference version, in which the theorem on Gaussian noise that the full version adds
has none.
"""

from .extent import FULL, QUICK, Extent
from .record import Chapter, Claim, Verdict
from .reproduction import Reproduction, reproduce

__all__ = ["FULL", "QUICK", "Chapter", "Claim", "Extent", "Reproduction", "Verdict", "reproduce"]
