"""Plan and release files: spoilt inside and zipped again, or spoilt as bytes."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

import rowspace as rs
from rowspace import operators as op
from rowspace.releases import Release

from .attack import Parser
from .mutation import pick, spoil_bytes, spoil_tree
from .scratch import put, scratch
from .trees import spoilt_array

Entries = dict[str, bytes]

DOMAIN = rs.Domain(
    age=rs.Numeric(0, 8, bins=8),
    county=rs.Categorical(["a", "b", "c"], levels={"state": {"a": "x", "b": "x", "c": "y"}}),
)
# Few cells would be counted one by one, or need no matrices of their own.
WIDE = rs.Domain({f"a{at}": rs.Numeric(0, 8 if at > 1 else 16, bins=8 if at > 1 else 16) for at in range(9)})


def plans() -> tuple[rs.Plan, ...]:
    """Plans of several shapes: products, unions, levels, plain matrices; every kind of noise."""
    W = rs.workload
    return (
        rs.plan(W.ranges(DOMAIN, "age") + 2.0 * W.marginal(DOMAIN, "county"), rs.PureDP(1.0), effort="fast"),
        rs.plan(W.marginal(DOMAIN, "state") + W.total(DOMAIN), rs.ZCDP(0.5, "replace-one"), effort="fast"),
        rs.plan(
            W.predicates(DOMAIN, ["age < 3 or county = 'a'", "age >= 5"]),
            rs.ApproxDP(1.0, 1e-6),
            effort="fast",
        ),
        rs.plan(W.matrix(np.tril(np.ones((5, 5)))), rs.PureDP(0.1), effort="fast"),
        *narrow_plans(),
        *wide_plans(),
        *plans_of_cells(),
    )


def narrow_plans() -> tuple[rs.Plan, ...]:
    """Tables of cells over attributes without places, each asked whole."""
    known = {name: rs.Numeric(0, 8, bins=8, outside="drop") for name in WIDE.names}
    tables = rs.workload.marginals(rs.Domain(known), up_to=2)
    return tuple(rs.plan(tables, privacy, effort="fast") for privacy in (rs.ZCDP(0.5), rs.PureDP(1.0)))


def plans_of_cells() -> tuple[rs.Plan, ...]:
    """Strategies over cells that few workloads lead to: given rows, a factor of the optimum, a cell beside a matrix."""
    W = rs.workload
    pairs = W.ranges(DOMAIN, "age") + W.marginal(DOMAIN, "age", "county")
    given = op.Kronecker(op.Stack(op.Identity(9), op.Total(9)), op.Identity(4))
    return (
        rs.plan(pairs, rs.PureDP(1.0), strategy=op.Stack(given, op.Total(36))),
        rs.plan(W.ranges(DOMAIN, "age") + W.marginal(DOMAIN, "county"), rs.ZCDP(0.5), effort="fast"),
        rs.plan(pairs, rs.ZCDP(0.5), effort="fast"),
    )


def wide_plans() -> tuple[rs.Plan, ...]:
    """Plans over more cells than are ever counted: a strategy of tables of every kind."""
    cells, ranges = (
        rs.workload.marginals(WIDE, up_to=1),
        rs.workload.product(WIDE, a0="ranges", a1="prefixes"),
    )
    return tuple(
        rs.plan(cells + other, privacy, effort="fast")
        for other in (rs.workload.marginal(WIDE, "a0", "a1"), ranges)
        for privacy in (rs.ZCDP(0.5), rs.PureDP(1.0))
    )


def plan_files() -> Parser:
    """Plan files, and the figures of those that are accepted."""
    seeds = [_saved(plan.save, "seed.plan") for plan in plans()]
    return Parser(
        "plan files", lambda rng: _spoil(rng, seeds), lambda data: _use(rs.Plan.load(put(data, "x.plan")))
    )


def release_files() -> Parser:
    """Release files, and the answers of those that are accepted."""
    rows = pd.DataFrame({name: [0, 1, 2] for name in WIDE.names})
    made = [
        rs.release(plan, rows if plan.domain.names == WIDE.names else np.arange(plan.domain.size))
        for plan in plans()
    ]
    seeds = [_saved(release.save, "seed.release") for release in made]

    def read(data: bytes) -> None:
        release = Release.load(put(data, "x.release"))
        release.answers()
        str(release)

    return Parser("release files", lambda rng: _spoil(rng, seeds), read)


def unzipped(data: bytes) -> Entries:
    """The entries of an archive."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(entries: Entries) -> bytes:
    """An archive with right checksums."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return sink.getvalue()


def _spoil(rng: np.random.Generator, seeds: list[bytes]) -> bytes:
    """A spoilt file: as bytes; or one entry as bytes; or the document as a tree; or an array."""
    data = pick(rng, seeds)
    kind = rng.random()
    if kind < 0.2:
        return spoil_bytes(rng, data, seeds)
    entries = dict(_entries(data))
    arrays = [name for name in entries if name.endswith(".npy")]
    if kind < 0.35:
        name = pick(rng, sorted(entries))
        entries[name] = spoil_bytes(rng, entries[name])
    elif kind < 0.45 and arrays:
        sink = io.BytesIO()
        values = [np.load(io.BytesIO(entries[name])) for name in arrays]
        np.save(sink, spoilt_array(rng, values))
        entries[pick(rng, arrays)] = sink.getvalue()
    else:
        spoilt = spoil_tree(rng, _document(data), [_document(seed) for seed in seeds])
        entries["document.json"] = json.dumps(spoilt).encode()
    return zipped(entries)


@cache
def _entries(seed: bytes) -> Entries:
    """The entries of a valid file, unpacked once."""
    return unzipped(seed)


@cache
def _document(seed: bytes) -> Any:
    """The document of a valid file, parsed once; spoiling copies it."""
    return json.loads(_entries(seed)["document.json"])


def _use(plan: rs.Plan) -> None:
    """What a user would look at first."""
    str(plan)
    str(plan.workload)


def _saved(save: Callable[[Any], None], name: str) -> bytes:
    """The bytes that `save` writes."""
    path = scratch() / name
    save(path)
    return path.read_bytes()
