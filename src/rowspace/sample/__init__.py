"""A bundled table of 50,000 invented people, for the demo, the examples and the tests.

Nobody in it exists: `rowspace.sample.generate` draws every row from a fixed seed. The columns are correlated
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

from importlib import resources
from pathlib import Path

__all__ = ["EDUCATION", "REGIONS", "SEXES", "people_path"]

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
