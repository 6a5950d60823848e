"""A release as noisy marginals for mbi (Private-PGM), which fits a model to them and makes synthetic records.

    from rowspace.interop.mbi import measurements, synthetic

    records = synthetic(release, rows=50_000)        # a pandas frame of labels

    release.estimate_tables(model=model_tables(release))    # a graphical model beside the others

or, with mbi's own estimators:

    MirrorDescent().estimate(mbi_domain(release), measurements(release), known_total=known_total(release))

The answers of a release are consistent with one another, so their errors are not independent, while mbi weighs every
marginal by its own standard error alone: its model is close to, not exactly, the most likely one. Post-processing
either way: it costs no privacy. mbi 2 weighs by 1/stddev²; mbi 1.0 did by 1/stddev, and is not supported.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rowspace.exceptions import InvalidInput, UnsupportedWorkload
from rowspace.operators import Vector
from rowspace.releases import Release
from rowspace.workload import Workload, marginal, total

if TYPE_CHECKING:
    import pandas as pd

_EQUAL = 1e-9


def mbi_domain(release: Release) -> Any:
    """The attributes that the release has marginals of, with their numbers of cells, as an mbi Domain."""
    mbi = _library()
    domain = release.plan.domain
    used = {name for names in _marginals(release) for name in names}
    names = [name for name in domain.names if name in used]
    return mbi.Domain(tuple(names), tuple(domain.shape[domain.position(name)] for name in names))


def measurements(release: Release) -> list[Any]:
    """Every marginal of the workload, as answered, with its standard errors, as mbi LinearMeasurements."""
    return [_measurement(release, names, part) for names, part in _marginals(release).items()]


def known_total(release: Release) -> float:
    """The noisy number of records, at least one."""
    answer = release.ask(total(release.plan.domain))["answer"][0]
    return max(1.0, float(answer))


def synthetic(release: Release, rows: int | None = None, *, iterations: int = 1000) -> pd.DataFrame:
    """Records that follow the marginals of the release: labels of cells, one column for each attribute.

    rows: how many, by default the noisy number of records. Biased post-processing: counts of these records are whole
    and not negative, and carry no error bars; ask the release for those.
    """
    import pandas as pd

    if rows is not None and (isinstance(rows, bool) or not isinstance(rows, int) or rows < 1):
        raise InvalidInput(f"expected a number of rows of at least 1, got {rows!r}")
    mbi = _library()
    with _double_precision():
        model = mbi.estimation.MirrorDescent().estimate(
            mbi_domain(release), measurements(release), known_total=known_total(release), iters=iterations
        )
        codes = model.synthetic_data(rows).to_dict()
    domain = release.plan.domain
    return pd.DataFrame(
        {
            name: np.array([*domain.dimension(name).labels(), None], dtype=object)[np.asarray(codes[name])]
            for name in codes
        }
    )


def model_tables(
    release: Release, *, iterations: int = 1000, megabytes: float = 8.0
) -> dict[tuple[str, ...], Any]:
    """Marginals of a graphical model that was fitted to others of the release: a model for `Release.estimate_tables`.

    megabytes: the largest model. Fitted are the marginals that say most beyond independence, at most half of them
    and as many as fit. They are left out of what is returned: their own noise would speak for the model.
    """
    mbi = _library()
    domain, every = mbi_domain(release), _marginals(release)
    chosen: list[tuple[str, ...]] = [names for names in every if len(names) == 1]
    errors = release.estimate_tables(model="independence").errors()
    beyond = dict(zip(errors["table"], errors["measured"], strict=True))
    joint = sorted(
        (names for names in every if len(names) > 1), key=lambda own: beyond[" × ".join(own)], reverse=True
    )
    for names in joint[: (len(joint) + 1) // 2]:
        if mbi.junction_tree.hypothetical_model_size(domain, [*chosen, names]) <= megabytes:
            chosen.append(names)
    with _double_precision():
        model = mbi.estimation.MirrorDescent().estimate(
            domain,
            [_measurement(release, names, every[names]) for names in chosen],
            known_total=known_total(release),
            iters=iterations,
        )
        left = [names for names in joint if names not in chosen]
        return {names: np.asarray(model.project(names).datavector(flatten=False)) for names in left}


def _marginals(release: Release) -> dict[tuple[str, ...], Workload]:
    """The marginals of attributes among the queries, each once, with the cells for missing values.

    Levels of taxonomies are no attributes to mbi.
    """
    domain = release.plan.domain
    found = {
        part.attributes: marginal(domain, *part.attributes, missing=True)
        for part in release.plan.workload.parts
        if part.factors and part.is_table
    }
    if not found:
        raise UnsupportedWorkload(
            "expected a release of marginals; this one has none: add [[workload]] marginal = [...] to the study"
        )
    return found


@dataclass(frozen=True, eq=False)
class KnownCells:
    """What a release tells of a marginal whose other cells, of missing values, it has not measured: an mbi query."""

    cells: npt.NDArray[np.int64]
    weights: Vector

    def __call__(self, factor: Any) -> Any:
        """The cells of a table that mbi has in mind, each times its weight."""
        return factor.datavector()[self.cells] * self.weights

    def op_norm_sq(self) -> float:
        """The largest squared weight, by which mbi chooses its steps."""
        return float(np.max(self.weights**2))


def _measurement(release: Release, names: tuple[str, ...], queries: Workload) -> Any:
    """One marginal. Where its cells differ in accuracy each is divided by its own standard error."""
    mbi = _library()
    domain = release.plan.domain
    cells = None
    try:
        answers = release.ask(queries)
    except UnsupportedWorkload:
        answers = release.ask(marginal(domain, *names))
        shape = [domain.shape[domain.position(name)] for name in names]
        known = np.ix_(*(range(len(domain.dimension(name).labels())) for name in names))
        cells = np.arange(prod(shape)).reshape(shape)[known].ravel()
    y, errors = answers["answer"].to_numpy(), answers["std_error"].to_numpy()
    if cells is not None:
        return mbi.LinearMeasurement(y / errors, names, stddev=1.0, query=KnownCells(cells, 1 / errors))
    if np.ptp(errors) <= _EQUAL * errors.max():
        return mbi.LinearMeasurement(y, names, stddev=float(errors[0]))
    return mbi.LinearMeasurement(y / errors, names, stddev=1.0, query=mbi.WeightedQuery(1 / errors))


def _library() -> Any:
    """Mbi itself, imported when it is used."""
    try:
        with warnings.catch_warnings():
            # It warns that jax counts in 32 bits unless told otherwise; `synthetic` tells it.
            warnings.simplefilter("ignore")
            import mbi
    except ModuleNotFoundError:
        raise InvalidInput("mbi is not installed; install it with: pip install 'rowspace[mbi]'") from None
    return mbi


@contextlib.contextmanager
def _double_precision() -> Iterator[None]:
    """64-bit numbers inside, whatever the process has chosen outside: in 32 bits estimation stalls on large tables."""
    import jax

    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    try:
        yield
    finally:
        jax.config.update("jax_enable_x64", before)
