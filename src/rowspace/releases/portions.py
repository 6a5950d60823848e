"""A workload a few groups at a time, for tables of more answers than fit in memory."""

from __future__ import annotations

from collections.abc import Iterator

from rowspace.workload import Part, Workload


def portions(workload: Workload, rows: int) -> Iterator[Workload]:
    """Workloads of about so many queries each, in order; a part is never cut."""
    portion: list[Part] = []
    size = 0
    for part in workload.parts:
        if portion and size + part.size > rows:
            yield Workload(workload.domain, portion)
            portion, size = [], 0
        portion.append(part)
        size += part.size
    yield Workload(workload.domain, portion)
