"""How plans and answers look on a terminal. Computes nothing: every number comes in ready.

    numbers   figures as people read them        words     guarantees in plain words
    plans     a plan on one screen               answers   answers with their error bars

Everything returned here is a Rich renderable; where it is printed, and how wide, is the caller's business.
"""

from .answers import AnswerGroup, AnswerRow, answer_rows, answers_view, first_answers
from .budgets import budgets_view, evidence_view, history_view
from .numbers import counts, figures, shown_above, whole
from .plans import plan_view, table
from .targets import targets_view, whatif_view
from .words import parameters, plain_privacy

__all__ = [
    "AnswerGroup",
    "AnswerRow",
    "answer_rows",
    "answers_view",
    "budgets_view",
    "counts",
    "evidence_view",
    "figures",
    "first_answers",
    "history_view",
    "parameters",
    "plain_privacy",
    "plan_view",
    "shown_above",
    "table",
    "targets_view",
    "whatif_view",
    "whole",
]
