"""A bundled table of 50,000 invented people, for the demo, the examples and the tests.

Nobody in it exists: `make sample` draws every row from a fixed seed. The columns are correlated
and skewed the way a register of residents is, so plans and releases on it look like real ones.

- `age`: 0 … 99
- `sex`: one of `SEXES`
- `region`: one of `REGIONS`, eight of unequal size
- `education`: one of `EDUCATION`, six levels in rising order
- `income`: 0 … 200,000 whole currency units a year, 0 under 16
- `household_size`: 1 … 8

Example:
    >>> from rowspace import sample
    >>> sample.people_path().name
    'people.parquet'
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from rowspace.ledger import Ledger
    from rowspace.planning import Plan
    from rowspace.privacy import Privacy
    from rowspace.releases import Release
    from rowspace.session import Session

__all__ = ["EDUCATION", "REGIONS", "SEXES", "people_path", "small_ledger", "small_release", "small_session"]

SEXES = ("F", "M")

REGIONS = ("Capital", "Harbour", "Midlands", "Northmoor", "Eastvale", "Southshore", "Westridge", "Highlands")

EDUCATION = ("none", "primary", "lower secondary", "upper secondary", "bachelor", "master or higher")


def people_path() -> Path:
    """Path of the bundled Parquet file; any source argument of rowspace takes it.

    Example:
        >>> from rowspace import sample
        >>> sample.people_path().is_file()
        True
    """
    # Wheels are installed unpacked, so the traversable is a real file; Path() refuses anything else.
    return Path(str(resources.files(__name__) / "people.parquet"))


def small_release(epsilon: float = 200.0) -> Release:
    """A release of 360 invented records, of ages 0 to 3 and two sexes, to try things on.

    epsilon: the guarantee. Unless given there is hardly any noise, as no release of real records may have, so that
    examples always print the same.

    Example:
        >>> from rowspace import sample
        >>> sample.small_release().ask("age >= 2")["answer"].round().tolist()
        [260.0]
    """
    from rowspace.mechanism import release

    return release(_small_plan(epsilon), _small_table())


@contextmanager
def small_session(rho: float = 1e6) -> Iterator[Session]:
    """A session about the same records, whose ledger is in a folder that is gone afterwards. rho: its budget.

    Example:
        >>> from rowspace import sample
        >>> with sample.small_session() as session:
        ...     round(session.ask("age >= 2", within=0.4, level=0.999999).answer)
        260
    """
    from rowspace.privacy import ZCDP
    from rowspace.session import Session

    with small_ledger(ZCDP(rho)) as ledger:
        workload = _small_plan(200.0).workload
        yield Session(workload.domain, _small_table(), ledger=ledger, expecting=workload)


@contextmanager
def small_ledger(budget: Privacy | None = None) -> Iterator[Ledger]:
    """A ledger in a folder that is gone afterwards, with one budget, of 'people'. budget: 600 of epsilon unless given.

    Example:
        >>> from rowspace import sample
        >>> with sample.small_ledger() as ledger:
        ...     print(ledger.budget())
        600 of 600 epsilon left
    """
    from rowspace.ledger import Ledger
    from rowspace.privacy import PureDP

    with TemporaryDirectory() as folder:
        ledger = Ledger(folder + "/budget.db")
        ledger.create("people", budget or PureDP(600))
        yield ledger


def _small_table() -> pd.DataFrame:
    import pandas as pd

    cells = [(age, sex) for age in range(4) for sex in SEXES]
    records = [cell for number, cell in enumerate(cells, start=1) for _ in range(10 * number)]
    return pd.DataFrame(records, columns=["age", "sex"])


@cache
def _small_plan(epsilon: float) -> Plan:
    """Counts by age and sex, and by range of age."""
    from rowspace import workload
    from rowspace.domain import Categorical, Domain, Numeric
    from rowspace.planning import plan
    from rowspace.privacy import PureDP

    domain = Domain(age=Numeric(0, 4, bins=4, integer=True), sex=Categorical(SEXES))
    queries = workload.marginal(domain, "age", "sex") + workload.ranges(domain, "age")
    return plan(queries, PureDP(epsilon), effort="fast")
