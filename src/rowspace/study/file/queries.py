"""``[[workload]]``: each entry is one family of queries, perhaps with an importance weight."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import or_
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Discriminator, Tag, WithJsonSchema

from rowspace import workload as families
from rowspace.domain import Domain
from rowspace.exceptions import InvalidStudy
from rowspace.workload import Workload

from ..study import located
from .tables import FileTable, Number, Text, Texts, key, option, unknown_key


def _is_true(value: object) -> object:
    """Only that: to Python, 1 is true as well."""
    if value is not True:
        raise ValueError
    return value


Yes = Annotated[Literal[True], BeforeValidator(_is_true)]
# The room of workloads checks it, and has words for it.
_Each = Annotated[Any, WithJsonSchema({"enum": ["identity", "ranges", "prefixes", "total"]})]
_Missing = Annotated[bool, key("`true` beside a table: rows for missing values, too", True)]


class QueryTable(FileTable):
    """A family of queries, named by the first key of its own; without more ado, one of the room of workloads."""

    weight: Number | None = option(
        "how many times its errors count (their squares by the square) when the plan is chosen", 2.0
    )

    @classmethod
    def kind(cls) -> str:
        """The key that names the family."""
        return next(name for name in cls.model_fields if name not in QueryTable.model_fields)

    @classmethod
    def unknown(cls, name: str) -> str:
        """A key of other families is told from one that is misspelt."""
        homes = [kind for kind, table in QUERIES.items() if name in table.model_fields]
        if not homes:
            return unknown_key(name, KEYS)
        return f"{QUERIES[homes[0]].example(name)} goes with {', '.join(homes)}; leave it out here"

    def queries(self, domain: Domain, folder: Path | None) -> Workload:
        """The queries; `folder` is where files of SQL may be, beside the study."""
        with located(self.kind()):
            found = self._queries(domain, folder)
        with located("weight"):
            return found if self.weight is None else found * self.weight

    def _queries(self, domain: Domain, folder: Path | None) -> Workload:
        """The queries without their weight."""
        settings = self.given("weight")
        what = settings.pop(self.kind())
        family: Callable[..., Workload] = getattr(families, self.kind())
        return family(domain, *([] if what is True else [what]), **settings)


class _Total(QueryTable):
    total: Yes = key("the number of records", True)


class _Marginal(QueryTable):
    marginal: Texts = key(
        "the table of these attributes: a count for each combination of values", ["age", "sex"]
    )
    missing: _Missing = False

    def _queries(self, domain: Domain, folder: Path | None) -> Workload:
        return families.marginal(domain, *self.marginal, missing=self.missing)


class _Sets(FileTable):
    up_to: int | None = option("all tables of at most so many attributes", 2)
    exactly: int | None = option("all tables of so many attributes", 2)
    sets: list[Texts] | None = option("the tables of these", [["age", "sex"], ["region"]], fail_fast=True)
    choices: ClassVar = (("up_to", "exactly", "sets"),)


class _Marginals(QueryTable):
    marginals: _Sets = key(
        'all tables of at most two attributes; `{ exactly = 2 }`; `{ sets = [["age", "sex"], ["region"]] }`',
        {"up_to": 2},
    )
    missing: _Missing = False

    def _queries(self, domain: Domain, folder: Path | None) -> Workload:
        return families.marginals(domain, **self.marginals.given(), missing=self.missing)


class _Cube(QueryTable):
    cube: Yes = key("all tables of any number of attributes", True)
    missing: _Missing = False


class _Identity(QueryTable):
    identity: Yes = key("the one table of all attributes", True)
    missing: _Missing = False


class _Ranges(QueryTable):
    ranges: Text = key("every range of values: 5,050 for a hundred bins", "age")


class _Prefixes(QueryTable):
    prefixes: Text = key('every "up to": the cumulative counts', "age")


class _Widths(QueryTable):
    widths: Text = key("every window of `width` bins", "age")
    width: int = key("how many bins are in each window of `widths`", 5)


class _Product(QueryTable):
    product: dict[str, _Each] = key(
        'every range of age for each sex; also `"prefixes"`, `"total"`', {"age": "ranges", "sex": "identity"}
    )


def _by() -> Any:
    return option(
        "beside `sum`, `mean` and the like: one for each combination of these attributes",
        ["region", "sex"],
        [],
    )


def _for_families() -> Any:
    return option(
        "beside `sum`, `mean` and the like: one for each of these queries about other attributes",
        {"age": "ranges"},
        {},
    )


def _of_a_sample() -> Any:
    return option("whether the number of records less one is divided by, as for a sample", True, False)


class _Sum(QueryTable):
    sum: Text = key("the sum of a measure", "income")
    by: Texts = _by()
    families: dict[str, _Each] = _for_families()


class _Mean(QueryTable):
    mean: Text = key("the mean of a measure: its sum, and the number of records with a value", "income")
    by: Texts = _by()
    families: dict[str, _Each] = _for_families()


class _Variance(QueryTable):
    variance: Text = key("the variance of a measure that has squares", "income")
    by: Texts = _by()
    families: dict[str, _Each] = _for_families()
    sample: bool = _of_a_sample()


class _StandardDeviation(QueryTable):
    standard_deviation: Text = key("the standard deviation of a measure that has squares", "income")
    by: Texts = _by()
    families: dict[str, _Each] = _for_families()
    sample: bool = _of_a_sample()


class _Valued(QueryTable):
    valued: Text = key("how many records have a value of a measure", "income")
    by: Texts = _by()
    families: dict[str, _Each] = _for_families()


class _Predicates(QueryTable):
    predicates: Texts = key("conditions as text", ["age >= 65 and sex = 'F'"])


class _Sql(QueryTable):
    sql: Text = key("counting queries in SQL", "SELECT sex, COUNT(*) FROM people GROUP BY sex")

    def _queries(self, domain: Domain, folder: Path | None) -> Workload:
        if PurePosixPath(self.sql).suffix == ".sql":
            raise InvalidStudy(
                'expected queries, got the name of a file; write sql_file = "…", or sql = "SELECT …"'
            )
        return families.sql(domain, self.sql)


class _SqlFile(QueryTable):
    # Nowhere else: errors quote a line of the file, and a study may come from anyone.
    sql_file: Text = key("a file of counting queries in SQL, beside the study", "dashboard.sql")

    def _queries(self, domain: Domain, folder: Path | None) -> Workload:
        name, path = self.sql_file, PurePosixPath(self.sql_file)
        if path.name != name or path.suffix != ".sql":
            raise InvalidStudy(f"expected the name of a .sql file in the study's folder, got {name[:100]!r}")
        if folder is None:
            raise InvalidStudy(
                'a study that is not a file has no folder to look in; write sql = """SELECT ..."""'
            )
        return families.sql(domain, folder / name)


#: Every family by the key that names it, and every key that an entry may have.
QUERIES: dict[str, type[QueryTable]] = {table.kind(): table for table in QueryTable.__subclasses__()}
KEYS = dict.fromkeys([*QUERIES, *(name for table in QUERIES.values() for name in table.model_fields)])


def _named(entry: object) -> list[str]:
    """The families that an entry names."""
    return [name for name in entry if name in QUERIES] if isinstance(entry, dict) else []


def nameless(entry: dict[str, Any]) -> str:
    """What to say of an entry that does not name one family."""
    for name in entry:
        if name not in KEYS:
            return unknown_key(name, KEYS)
    return (
        f"expected exactly one of {', '.join(QUERIES)}; got {' and '.join(_named(entry)) or 'none of them'}"
    )


if TYPE_CHECKING:
    AnyQuery = QueryTable
else:
    AnyQuery = Annotated[
        reduce(or_, (Annotated[table, Tag(kind)] for kind, table in QUERIES.items())),
        Discriminator(lambda entry: found[0] if len(found := _named(entry)) == 1 else None),
    ]
