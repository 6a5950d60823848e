"""Doors of derived answers: tables, rankings, differences, shares, distributions, counts that look like counts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import rowspace as rs
from rowspace.domain import Numeric
from rowspace.exceptions import InvalidInput, RowspaceError, UnsupportedWorkload

from . import oracle
from .doors import CLOSE, FIGURES, Seen, Visit, column_of, door, near, own_rows
from .questions import Count, Table, random_condition


@door(
    "Release.table",
    "Combined.table",
    "CrossTable.answer",
    "CrossTable.std_error",
    "CrossTable.low",
    "CrossTable.high",
)
def tables_in_every_order(visit: Visit) -> Iterator[Seen]:
    """By one attribute or two in either order, totals included, looked up by the labels shown."""
    question = visit.question
    if not isinstance(question, Table) or len(question.names) > 2:
        return
    for names in {question.names, question.names[::-1]}:
        found = visit.release.table(*names, where=question.condition_text)
        rows = question.cells_by(*names)
        possible = rows.any(axis=-1)
        others = [tuple(set(range(len(names))) - {axis}) for axis in range(len(names))]
        left = [np.flatnonzero(possible.any(axis=own)) for own in others]
        rows = rows[np.ix_(*left)]
        for axis in range(len(names)):
            rows = np.concatenate([rows, rows.sum(axis=axis, keepdims=True)], axis=axis)
        expected = visit.asked.figures(rows.reshape(-1, rows.shape[-1]))
        for name in FIGURES:
            frame = getattr(found, name)
            labels = [frame.index.tolist(), frame.columns.tolist()][: len(names)]
            for axis, shown in enumerate(labels):
                assert shown[:-1] == [question.labels(names[axis])[at] for at in left[axis]]
                assert shown[-1].strip("()") == "total"
            wanted = expected[name].reshape(frame.shape)
            apart = np.max(near(visit, expected, name))
            yield Seen(f"table {names} {name}", frame.to_numpy(), wanted, apart)


@door("Release.top", "Combined.top")
def largest_cells(visit: Visit) -> Iterator[Seen]:
    """The ranking holds every possible cell, largest first, each under its own labels."""
    question = visit.question
    if not isinstance(question, Table):
        return
    found = visit.release.top(10**6, *question.names, where=question.condition_text)
    by = question.cells_by(*question.names)
    places = [
        tuple(question.labels(name).index(label) for name, label in zip(question.names, labels, strict=True))
        for labels in found[[column_of(found, name) for name in question.names]].to_numpy().tolist()
    ]
    assert sorted(places) == sorted(map(tuple, np.argwhere(by.any(axis=-1)).tolist()))
    assert found["answer"].is_monotonic_decreasing
    rows = np.array([by[place] for place in places])
    expected = visit.asked.figures(rows)
    for name in ("answer", "std_error"):
        yield Seen(f"top {name}", found[name], expected[name], CLOSE * visit.asked.scale)


@door(
    "Release.difference",
    "Combined.difference",
    "Estimate.value",
    "Estimate.std_error",
    "Estimate.low",
    "Estimate.high",
)
def differences(visit: Visit) -> Iterator[Seen]:
    """Of two counts: one query. The other may be the total."""
    for a, b, rows in _pairs(visit):
        expected = visit.asked.figures((rows[0] - rows[1])[None])
        found = visit.release.difference(a, b)
        values = (found.value, found.std_error, found.low, found.high)
        for name, value in zip(FIGURES, values, strict=True):
            yield Seen(f"difference {name}", [value], expected[name], near(visit, expected, name))


@door("Release.ratio", "Combined.ratio", "Release.share", "Combined.share", "Estimate.to_dict")
def ratios_and_shares(visit: Visit) -> Iterator[Seen]:
    """r = A/B, with the noise of A − rB over B."""
    for a, b, rows in _pairs(visit):
        A, B = visit.asked.figures(rows)["answer"]
        calls = [(lambda a=a, b=b: visit.release.ratio(a, b), rows)]
        if isinstance(a, str) and isinstance(b, str):
            both = np.vstack([rows[0] * rows[1], rows[1]])
            calls.append((lambda a=a, b=b: visit.release.share(a, of=b), both))
        elif isinstance(a, str):
            calls.append((lambda a=a: visit.release.share(a), rows))
        for call, own in calls:
            try:
                found = call().to_dict()
            except (InvalidInput, UnsupportedWorkload, RowspaceError):
                continue  # the denominator may be nothing, a conjunction may be empty or never measured
            A, B = visit.asked.figures(own)["answer"]
            r = A / B
            error = visit.asked.figures((own[0] - r * own[1])[None])["std_error"][0] / abs(B)
            close = CLOSE * visit.asked.scale * (1 + abs(r)) / min(1.0, abs(B))
            yield Seen("ratio", [found["value"]], [r], close)
            yield Seen("ratio's error", [found["std_error"]], [error], close)


def _pairs(visit: Visit) -> Iterator[tuple[object, object, np.ndarray]]:
    """The question beside another one that was measured, as texts or as workloads."""
    question = visit.question
    if not isinstance(question, Count):
        return
    rng = np.random.default_rng(len(question.text))
    other = Count(question.domain, random_condition(question.domain, rng, 1))
    total = np.ones((1, question.domain.size))
    if visit.asked.reference.supports(other.cells):
        yield question.text, other.text, np.vstack([question.cells, other.cells])
        yield question.workload(), other.text, np.vstack([question.cells, other.cells])
    if visit.asked.reference.supports(total):
        yield question.text, rs.workload.total(question.domain), np.vstack([question.cells, total])


@door(
    "Release.cdf",
    "Combined.cdf",
    "Release.quantiles",
    "Combined.quantiles",
    "Release.median",
    "Combined.median",
)
def distributions(visit: Visit) -> Iterator[Seen]:
    """Cumulative shares are ratios of prefixes; quantiles follow them, and hold those of the raw table."""
    question = visit.question
    where = question.condition if isinstance(question, Count) else None
    cells = oracle.known_cells(visit.world.domain)
    for name, attribute in visit.world.domain.attributes:
        if not isinstance(attribute, Numeric) or (where is not None and name in oracle.names_in(where)):
            continue
        of = Table(visit.world.domain, (name,), where)
        rows = np.cumsum(of.rows(cells), axis=0)
        if not visit.asked.reference.supports(rows) or visit.asked.figures(rows)["answer"][-1] <= 1:
            continue
        whole = visit.asked.figures(rows)["answer"][-1]
        shares = visit.asked.figures(rows)["answer"] / whole
        found = visit.release.cdf(name, where=of.condition_text)
        close = CLOSE * visit.asked.scale * (1 + np.abs(shares).max())
        yield Seen("cdf", found["share"], shares, close)
        noise = visit.asked.figures(rows[:-1] - shares[:-1, None] * rows[-1])["std_error"] / whole
        yield Seen("cdf's error", found["std_error"].to_numpy()[:-1], noise, close)
        yield from _quantiles(visit, name, of, attribute)


def _quantiles(visit: Visit, name: str, of: Table, attribute: Numeric) -> Iterator[Seen]:
    wanted = [0.2, 0.5, 0.9]
    found = visit.release.quantiles(name, wanted, where=of.condition_text)
    middle = visit.release.median(name, where=of.condition_text)
    row = found.iloc[1]
    assert (middle.value, middle.low, middle.high) == (row["value"], row["low"], row["high"])
    assert set(found["low"]) | set(found["high"]) <= {*attribute.edges.tolist(), -np.inf, np.inf}
    if not visit.asked.quiet:
        return
    table = oracle.known(visit.world.raw, visit.world.domain)
    counted = of.rows(table).sum(axis=0) > 0
    values = np.array([np.nan if value is None else value for value in visit.world.raw[name]], float)[counted]
    truth = np.quantile(values, wanted)
    inside = (found["low"].to_numpy() <= truth) & (truth <= found["high"].to_numpy())
    yield Seen("quantiles of the raw table lie inside", inside, np.ones(3), 0.0)


@door("Release.consistent", "Combined.consistent", "Consistent.answers", "Consistent.ask", "Consistent.table")
def counts_that_look_like_counts(visit: Visit) -> Iterator[Seen]:
    """All of its own doors agree; without noise they are the counts themselves."""
    if not visit.asked.reference.supports(np.ones((1, visit.world.domain.size))):
        return
    question = visit.question
    for integral in (False, True):
        made = visit.asked.once(
            ("consistent", integral), lambda i=integral: visit.release.consistent(integral=i)
        )
        own = visit.asked.once(("own", integral), made.answers)["answer"].to_numpy()
        cells = made._counts.counts
        close = 1e-6 * visit.asked.scale
        yield Seen("consistent answers", own, own_rows(visit) @ cells, close)
        if isinstance(question, Table) and len(question.names) <= 2 and question.where is None:
            rows = question.cells_by(*question.names) @ cells
            shown = made.table(*question.names).to_numpy()
            body = shown[:-1, :-1] if len(question.names) == 2 else shown[:-1, 0]
            yield Seen("consistent table", body, rows, close)
            yield Seen("its total", [shown[-1, -1]], [rows.sum()], close)
        if not isinstance(question, Table) or question.where is None:
            found = made.ask(question.workload())["answer"]
            yield Seen("consistent ask", found, question.cells @ cells, close)
            # Where cells are not determined, whole numbers are one choice of many.
            determined = not integral or visit.asked.reference.supports(np.eye(visit.world.domain.size))
            if visit.asked.quiet and determined:
                yield Seen("consistent counts", found, question.truth(visit.world.raw), 0.3)


@door(
    "Release.estimate_tables", "Combined.estimate_tables", "TableEstimate.answers", "TableEstimate.ask",
    "TableEstimate.table",
)  # fmt: skip
def tables_as_estimated(visit: Visit) -> Iterator[Seen]:
    """All of its doors agree; without noise they are the counts themselves."""
    if not visit.asked.reference.supports(np.ones((1, visit.world.domain.size))):
        return
    made = visit.asked.once("estimated", visit.release.estimate_tables)
    question, close = visit.question, 1e-6 * visit.asked.scale
    if not isinstance(question, Table) or question.where is not None:
        return
    try:
        found = made.ask(question.workload())
    except UnsupportedWorkload:
        return  # a table that was not measured cell by cell
    assert (found["low"] <= found["answer"]).all()
    assert (found["answer"] <= found["high"]).all()
    assert found["answer"].min() >= -close
    assert found["measured"].between(0, 1).all()
    if len(question.names) <= 2:
        shown = made.table(*question.names)
        labels = found[[column_of(found, name) for name in question.names]].to_numpy().tolist()
        cells = [shown.loc[own[0], own[1] if len(own) == 2 else "count"] for own in labels]
        yield Seen("estimated table", cells, found["answer"], close)
        yield Seen("its total", [shown.to_numpy()[-1, -1]], [found["answer"].sum()], close)
    if visit.asked.quiet:
        yield Seen("estimated counts", found["answer"], question.truth(visit.world.raw), 0.3)


@door("Release.synthetic", "Combined.synthetic", "Consistent.synthetic", "TableEstimate.synthetic")
def records(visit: Visit) -> Iterator[Seen]:
    """Records count, by pandas, to the consistent counts; without noise to the raw table."""
    if not visit.asked.reference.supports(np.eye(visit.world.domain.size)):
        return
    frame = visit.asked.once("synthetic", lambda: visit.release.synthetic(draw_numbers=True, rng=1))
    if visit.asked.quiet:
        # The label of what is unlisted is no category itself, so it is read as one more unlisted value.
        truth = visit.question.truth(visit.world.raw)
        yield Seen("records", visit.question.truth(frame), truth, 0.0)
        made = visit.asked.once(
            "from counts", lambda: visit.release.consistent().synthetic(draw_numbers=True, rng=1)
        )
        yield Seen("records of counts", visit.question.truth(made), truth, 0.0)
    assert list(frame.columns) == list(visit.world.domain.names)
    with pytest.raises(RowspaceError):
        visit.release.synthetic(-1)
