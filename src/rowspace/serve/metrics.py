"""Figures for Prometheus: how many requests, how quick, answers for free, what is left. None is of the data."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from rowspace.ledger import Budget

_SHARED = "PROMETHEUS_MULTIPROC_DIR"
_OWN = CollectorRegistry()

REQUESTS = Counter("rowspace_requests", "Requests", ["method", "route", "status"], registry=_OWN)
SECONDS = Histogram("rowspace_request_seconds", "Seconds that requests took", ["route"], registry=_OWN)
ANSWERS = Counter("rowspace_answers", "Questions answered", ["paid"], registry=_OWN)
_LEFT = Gauge("rowspace_budget_left", "What is left", ["unit"], registry=_OWN, multiprocess_mode="mostrecent")
_LIMIT = Gauge(
    "rowspace_budget_limit", "What may be spent", ["unit"], registry=_OWN, multiprocess_mode="mostrecent"
)


def written(budget: Budget | None) -> bytes:
    """All figures, of all workers, as Prometheus reads them."""
    if budget is not None:
        _LEFT.labels(budget.unit).set(float(budget.remaining))
        _LIMIT.labels(budget.unit).set(float(budget.limit))
    registry = _OWN
    if _SHARED in os.environ:
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return generate_latest(registry)


@contextmanager
def shared_by(workers: int) -> Iterator[None]:
    """A folder in which several workers count together; it is to be there before this module is loaded in them."""
    if workers == 1:
        yield
        return
    with TemporaryDirectory(prefix="rowspace-metrics-") as folder:
        os.environ[_SHARED] = folder
        try:
            yield
        finally:
            del os.environ[_SHARED]
