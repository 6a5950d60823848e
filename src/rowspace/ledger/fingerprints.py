"""Digests: which plan was charged for, and which bytes were released."""

from __future__ import annotations

import hashlib
import json

import numpy as np

from rowspace.planning import Plan

_ASKED = ("workload", "privacy", "strategy", "noise")


def plan_hash(plan: Plan) -> str:
    """SHA-256 over what the plan asks of the data and with which noise, in one canonical encoding.

    Equal for a plan and its reloaded file. How long planning took and what else was considered are left out.
    """
    body, arrays = plan.encode()
    digest = hashlib.sha256()
    asked = {part: body[part] for part in _ASKED}
    digest.update(json.dumps(asked, sort_keys=True, allow_nan=False, separators=(",", ":")).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        array = array.astype(array.dtype.newbyteorder("<"), copy=False)
        # Name, type and shape, ended by a zero byte, make the stream of bytes readable in one way only.
        digest.update(f"\0{name}:{array.dtype.str}:{array.shape}\0".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def content_digest(content: bytes) -> str:
    """SHA-256 of a release file: what ``sha256sum`` prints for it."""
    return hashlib.sha256(content).hexdigest()
