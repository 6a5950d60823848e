"""How plans and answers look on a terminal. Computes nothing: every number comes in ready.

    numbers   figures as people read them        words     guarantees in plain words
    plans     a plan on one screen               answers   answers with their error bars

Everything returned here is a Rich renderable; where it is printed, and how wide, is the caller's business.
"""

from .answers import AnswerGroup, AnswerRow, answer_rows, answers_view, first_answers
from .answers import quantiles_view as quantiles_view
from .budgets import budgets_view as budgets_view
from .budgets import evidence_view as evidence_view
from .budgets import history_view as history_view
from .numbers import counts, figures, shown_above, whole
from .plans import plan_view
from .plans import table as table
from .targets import targets_view as targets_view
from .targets import whatif_view as whatif_view
from .words import parameters as parameters
from .words import plain_privacy

__all__ = [
    "AnswerGroup",
    "AnswerRow",
    "answer_rows",
    "answers_view",
    "counts",
    "figures",
    "first_answers",
    "plain_privacy",
    "plan_view",
    "shown_above",
    "whole",
]
