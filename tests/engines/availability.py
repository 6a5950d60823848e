"""Engines that a machine may lack: tests skip with the reason, unless the environment insists.

`ROWSPACE_ENGINES=postgres,spark` (what `make test-engines` sets) makes a missing engine a failure, so that a
green run proves that the engines were there.
"""

from __future__ import annotations

import os
from typing import NoReturn

import pytest

VARIABLE = "ROWSPACE_ENGINES"


def unavailable(engine: str, reason: str) -> NoReturn:
    """Skip, or fail where the engine was asked for."""
    if engine in os.environ.get(VARIABLE, "").replace(",", " ").split():
        pytest.fail(f"{VARIABLE} asks for {engine}, but {reason}")
    pytest.skip(f"{engine}: {reason}")
