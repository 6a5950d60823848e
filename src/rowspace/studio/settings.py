"""What a studio is started with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Settings:
    """A study file; perhaps its data, for the curator's look, and a ledger, for a release of it.

    dataset: which budget of the ledger. start: the digest of the token of this run.
    """

    study: Path
    data: str | None = None
    table: str | None = None
    ledger: str | None = None
    dataset: str | None = None
    start: str = ""
    port: int = 0
