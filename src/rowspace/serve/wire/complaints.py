"""Errors as SQL clients know them: a SQLSTATE, one sentence, and a hint of what to do."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import ValidationError
from starlette.exceptions import HTTPException

from rowspace.exceptions import (
    BudgetExceeded,
    InvalidInput,
    KeyReused,
    PredicateError,
    RowspaceError,
    TooLarge,
    UnsupportedWorkload,
)

from ..logs import LOG
from ..shell import one_sentence, told

_STATES = {401: "28P01", 403: "42501", 413: "54000", 429: "53000", 503: "57P03"}
_KINDS: list[tuple[type[RowspaceError], str]] = [
    (KeyReused, "22023"),
    (BudgetExceeded, "53400"),
    (UnsupportedWorkload, "55000"),
    (PredicateError, "42601"),
    (TooLarge, "54000"),
    (InvalidInput, "22023"),
]


@dataclass
class Complaint(Exception):
    """An error as it is sent. position: in the statement, from 0."""

    state: str
    sentence: str
    hint: str = ""
    position: int | None = None


def complaint(error: Exception) -> Complaint:
    """An error of ours as it is sent; one that nobody expected is written to the log, and its message to nobody."""
    if isinstance(error, Complaint):
        return error
    if isinstance(error, ValidationError):
        return Complaint("54000", "the question is empty, or longer than is read at once")
    if not isinstance(error, RowspaceError | HTTPException):
        LOG.error("the program failed", exc_info=error)
        said = "the service failed; ask again with the same rowspace.request, which never pays twice"
        return Complaint("XX000", said)
    status, detail, _ = told(error)
    by_kind = next((state for kind, state in _KINDS if isinstance(error, kind)), "58000")
    detail = detail.replace("Idempotency-Key", "rowspace.request").replace("within=", "rowspace.within")
    return Complaint(_STATES.get(status, by_kind), one_sentence(ValueError(detail)))
