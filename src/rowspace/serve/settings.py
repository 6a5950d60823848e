"""What a service is started with; workers find it in their environment."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass

_NAME = "ROWSPACE_SERVE"


@dataclass(frozen=True)
class Settings:
    """A study, its data, its ledger, and who may ask.

    tokens: the file of tokens. start: without one, the digest of a token that was made for this run. public: the name
    that others reach the service by. rate: requests a second for each token, over all workers. host,
    psql_port: where SQL clients are answered, if they are.
    """

    study: str
    data: str
    ledger: str
    dataset: str | None = None
    table: str | None = None
    version: str | None = None
    tokens: str | None = None
    start: str | None = None
    public: str | None = None
    port: int = 8000
    rate: float = 50.0
    workers: int = 1
    host: str = "127.0.0.1"
    psql_port: int | None = None

    def hand_on(self) -> None:
        """Put it where workers find it."""
        os.environ[_NAME] = json.dumps(asdict(self))

    @classmethod
    def handed_on(cls) -> Settings:
        """What a worker finds."""
        return cls(**json.loads(os.environ[_NAME]))
