"""Logs: one JSON document per line, of what was done and how long it took, never of what was asked or answered.

Of an exception that nobody expected its type and the places it went through are kept; its message could hold a value.
"""

from __future__ import annotations

import json
import logging
import traceback
from datetime import UTC, datetime
from typing import Any

LOG = logging.getLogger("rowspace.serve")


class JsonLines(logging.Formatter):
    """A record as one line of JSON; what is given as ``extra={"fields": …}`` is part of it."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            "process": record.process,
            **getattr(record, "fields", {}),
        }
        if record.exc_info and record.exc_info[1] is not None:
            error = record.exc_info[1]
            line["error"] = type(error).__name__
            frames = traceback.extract_tb(error.__traceback__)
            line["at"] = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames[-12:]]
        return json.dumps(line, ensure_ascii=True)


CONFIGURATION: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"lines": {"()": "rowspace.serve.logs.JsonLines"}},
    "handlers": {
        "lines": {"class": "logging.StreamHandler", "stream": "ext://sys.stderr", "formatter": "lines"}
    },
    "loggers": {
        "rowspace.serve": {"handlers": ["lines"], "level": "INFO", "propagate": False},
        "uvicorn": {"handlers": ["lines"], "level": "INFO", "propagate": False},
    },
}
"""For uvicorn: its own words in the same form."""

FAILURES_ONLY: dict[str, Any] = {
    **CONFIGURATION,
    "loggers": {name: {**one, "level": "WARNING"} for name, one in CONFIGURATION["loggers"].items()},
}
"""For a server that somebody started to look at a page."""
