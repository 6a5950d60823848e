"""The quick reproduction, computed once."""

from __future__ import annotations

import pytest

from rowspace_paper import QUICK, Reproduction, reproduce


@pytest.fixture(scope="session")
def quick() -> Reproduction:
    return reproduce(QUICK)
