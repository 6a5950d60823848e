"""Synthetic records: a table with the domain's columns whose counts follow a release.

Post-processing of released numbers: it costs no privacy, and its randomness need not be secret, so it comes from a
numpy generator that the caller may seed. No record stands for a person.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rowspace.domain import DAY, Categorical, Dates, Dimension, Numeric
from rowspace.exceptions import InvalidInput
from rowspace.reconstruct import Codes

from .consistent_counts import Counts, TableCounts, counts_of
from .evidence import promise_of, require_counts

if TYPE_CHECKING:
    import pandas as pd

    from .combined import Combined
    from .release import Release


def synthetic(
    release: Release | Combined,
    rows: int | None = None,
    *,
    draw_numbers: bool = False,
    rng: np.random.Generator | int | None = None,
    counts: Counts | None = None,
) -> pd.DataFrame:
    """See `Release.synthetic`. counts: what records are to follow; the release's consistent counts unless given.

    Where the cells fit, every cell occurs as often as its share says, within one. Over larger domains records are drawn
    along the tables that tie attributes most closely and then fitted to all tables: close, but not exact, and
    ``attrs["table_error"]`` has Σ|difference|/rows of every table. Biased, as all non-negative counts are; error bars
    come with the release, not with these records.
    """
    import pandas as pd

    if not isinstance(draw_numbers, bool):
        raise InvalidInput(f"expected draw_numbers to be True or False, got {type(draw_numbers).__name__}")
    require_counts(release, "synthetic records are")
    generator = _generator(rng)
    counts = counts_of(release, integral=False) if counts is None else counts
    codes = counts.codes(rows, generator)
    domain = release.plan.domain
    columns = {
        name: _values(domain.dimension(name), own, draw_numbers, generator)
        for name, own in zip(domain.names, codes, strict=True)
    }
    frame = pd.DataFrame(columns)
    left_out = release.plan.population
    frame.attrs["statement"] = (
        "Synthetic records: biased post-processing, fitted to non-negative counts; no record stands for a person. "
        f"{left_out + ' ' if left_out else ''}Made from a release under {promise_of(release)}, at no further cost of "
        "privacy."
    )
    if isinstance(counts, TableCounts):
        frame.attrs["table_error"] = counts.distances(codes)
    if left_out:
        frame.attrs["population"] = left_out
    return frame


def _generator(rng: object) -> np.random.Generator:
    if isinstance(rng, np.random.Generator):
        return rng
    if rng is None or (isinstance(rng, int) and not isinstance(rng, bool) and rng >= 0):
        return np.random.default_rng(rng)
    raise InvalidInput(f"expected rng as a numpy Generator or a seed, 0 or more, got {type(rng).__name__}")


def _values(attribute: Dimension, codes: Codes, draw: bool, rng: np.random.Generator) -> Any:
    """The column of an attribute from cell numbers; a record in the place for missing values has none."""
    known = codes < attribute.size
    values = _known_values(attribute, codes[known], draw, rng)
    if known.all():
        return values
    import pandas as pd

    column = pd.array(values, dtype="Int64") if values.dtype.kind == "i" else values
    return pd.Series(column, index=np.flatnonzero(known)).reindex(np.arange(len(codes))).array


def _known_values(attribute: Dimension, codes: Codes, draw: bool, rng: np.random.Generator) -> Any:
    if isinstance(attribute, Numeric) and draw:
        low, high = attribute.edges[codes], attribute.edges[codes + 1]
        if isinstance(attribute, Dates):
            unit = 1 if attribute.times else DAY
            drawn = rng.integers((low // unit).astype(np.int64), (high // unit).astype(np.int64)) * unit
            return drawn.astype("datetime64[s]")
        if attribute.integer:  # then edges are whole too
            return rng.integers(low.astype(np.int64), high.astype(np.int64))
        place = rng.random(len(codes))
        # Rounding must not carry a number to the upper edge, which is the next bin's.
        return np.minimum((1 - place) * low + place * high, np.nextafter(high, low))
    labels = attribute.cell_labels if isinstance(attribute, Categorical) else attribute.labels()
    return np.array(labels, dtype=object)[codes] if len(codes) else np.array([], dtype=object)
