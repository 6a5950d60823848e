"""What is sent and answered, as pydantic models: the OpenAPI document is made from them."""

from __future__ import annotations

import math
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

LONGEST_TEXT, MOST_TEXTS = 10_000, 200

Text = Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT)]
HalfWidth = Annotated[float, Field(gt=0, allow_inf_nan=False)]


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


Figure = Annotated[float | None, BeforeValidator(_finite)]
"""A number; null where there is none."""


class Asked(BaseModel):
    """A question: conditions or SQL, or a table of counts by some attributes."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"question": "age >= 65", "within": 100}]}
    )

    question: Text | Annotated[list[Text], Field(min_length=1, max_length=MOST_TEXTS)] | None = Field(
        None,
        description="A condition such as `age >= 65`, SQL that counts, or several of them, bought together.",
    )
    table: Annotated[list[Text], Field(min_length=1, max_length=16)] | None = Field(
        None, description="Instead: attributes, for the counts of all their combinations."
    )
    within: HalfWidth | Annotated[list[HalfWidth], Field(min_length=1, max_length=MOST_TEXTS)] | None = Field(
        None,
        description="The half-width that no interval may exceed; without it only what is known is answered.",
    )
    level: Annotated[float, Field(gt=0, lt=1)] = Field(0.95, description="Confidence level of the intervals.")

    @model_validator(mode="after")
    def _one_of_two(self) -> Asked:
        if (self.question is None) == (self.table is None):
            raise ValueError("expected either a question or a table")
        return self

    @property
    def texts(self) -> tuple[str, ...]:
        """Conditions and SQL."""
        return (self.question,) if isinstance(self.question, str) else tuple(self.question or ())


class Priced(Asked):
    """What is to be priced, and so has an accuracy."""

    within: HalfWidth | Annotated[list[HalfWidth], Field(min_length=1, max_length=MOST_TEXTS)] = Field(
        description="The half-width that no interval may exceed: one for all questions, or one for each."
    )


class Buying(Asked):
    """What is asked, and what it may cost."""

    most: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = Field(
        None, description="The most it may cost, such as the price that was agreed to; 0 buys nothing."
    )


class PriceOut(BaseModel):
    """What an answer would cost now. reached: the widest half-width for free. best: what all that is left buys."""

    free: bool
    price: float
    unit: str
    affordable: bool
    reached: Figure
    best: Figure = None
    left: str = Field(description="What the analyst may still spend, as a decimal.")


class Row(BaseModel):
    """One answer with its interval."""

    query: str
    answer: Figure
    std_error: Figure
    low: Figure
    high: Figure


class AnswerOut(BaseModel):
    """Answers, and what they cost: the same again for the same Idempotency-Key."""

    answers: list[Row]
    cost: float
    unit: str
    charge: int | None = Field(description="The number of the charge; null for what was free.")
    known_before: float = Field(
        description="The share of the information that was there before it was paid for."
    )
    level: float
    statement: str
    intervals: str
    key: str | None = Field(None, description="The Idempotency-Key, yours or one made for a purchase.")


class Own(BaseModel):
    """What one analyst may spend. cap: null where only the budget limits."""

    name: str
    cap: float | None
    left: str


class BudgetOut(BaseModel):
    """The budget as the ledger has it; amounts as decimals, rounded to the safe side."""

    dataset: str
    guarantee: dict[str, Any]
    composition: str
    unit: str
    limit: str
    spent: str
    remaining: str
    remaining_exact: str
    charges: int
    you: Own | None = None
    analysts: list[Own] | None = Field(None, description="For stewards: everybody who has a token.")


class ChargeOut(BaseModel):
    """A purchase. who: only stewards see those of others."""

    charge: int
    time: datetime
    who: str
    cost: dict[str, str]
    plan_sha256: str
    release_sha256: str


class AttributeOut(BaseModel):
    """What may be asked about: public, from the study."""

    name: str
    kind: str
    size: int | None = None
    labels: list[str]


class GroupOut(BaseModel):
    """Questions of the study. reached: the widest half-width that is known for free; null where nothing is."""

    group: str
    size: int
    reached: Figure


class KnownOut(BaseModel):
    """What is known by all purchases so far, and free for everyone."""

    study: str
    purchases: int
    last_charge: int
    level: float
    groups: list[GroupOut]
    attributes: list[AttributeOut]


class StatusOut(BaseModel):
    """Whether the process is there."""

    status: Literal["ok"] = "ok"


class Problem(BaseModel):
    """An error (RFC 9457): one sentence in `detail`."""

    type: str
    title: str
    status: int
    detail: str
