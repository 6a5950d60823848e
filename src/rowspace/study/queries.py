"""``[[workload]]``: each entry is one family of queries, perhaps with an importance weight."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

from rowspace import workload as families
from rowspace.domain import Domain
from rowspace.exceptions import InvalidStudy
from rowspace.workload import Part, Workload

from .section import Section, kind_of, located

#: Most [[workload]] entries.
MAX_ENTRIES = 10_000

_EXAMPLE = 'write for example [[workload]] with marginal = ["age", "sex"]'


def read_workload(entries: object, domain: Domain, folder: Path | None = None) -> Workload:
    """The union of all entries, in the order of the file; `folder` is where files of SQL may be, beside the study."""
    if isinstance(entries, dict):
        raise InvalidStudy(
            "[workload]: write [[workload]], in double brackets, before each family of queries"
        )
    if not isinstance(entries, list) or not entries:
        raise InvalidStudy(f"a study needs at least one query: {_EXAMPLE}")
    if len(entries) > MAX_ENTRIES:
        raise InvalidStudy(f"at most {MAX_ENTRIES:,} [[workload]] entries are possible, got {len(entries):,}")
    parts: list[Part] = []
    for number, entry in enumerate(entries, start=1):
        with located(f"[[workload]] entry {number}"):
            parts.extend(_read_entry(Section.of(entry), domain, folder).parts)
    with located("[[workload]]"):
        return Workload(domain, parts)


def _read_entry(section: Section, domain: Domain, folder: Path | None) -> Workload:
    """The queries of one entry."""
    known = [*_FAMILIES, "sql_file"]
    section.only(*known, "weight", "width", "missing")
    named = [key for key in section.values if key in known]
    if len(named) != 1:
        raise InvalidStudy(
            f"expected exactly one of {', '.join(known)}; got {' and '.join(named) or 'none of them'}"
        )
    family = named[0]
    if ("width" in section.values) != (family == "widths"):
        raise InvalidStudy('sliding windows take two keys: widths = "age" and width = 5')
    if "missing" in section.values and family not in _TABLES:
        raise InvalidStudy(f"missing = true goes with {', '.join(_TABLES)}; leave it out here")
    with located(family):
        found = (
            _read_sql_file(section.text("sql_file"), domain, folder)
            if family == "sql_file"
            else _FAMILIES[family](section, domain)
        )
    with located("weight"):
        return found * section.values["weight"] if "weight" in section.values else found


def _read_sql(section: Section, domain: Domain) -> Workload:
    """``sql = "SELECT ..."``: the queries themselves."""
    text = section.text("sql")
    if PurePosixPath(text).suffix == ".sql":
        raise InvalidStudy(
            'expected queries, got the name of a file; write sql_file = "…", or sql = "SELECT …"'
        )
    return families.sql(domain, text)


def _read_sql_file(name: str, domain: Domain, folder: Path | None) -> Workload:
    """``sql_file = "dashboard.sql"``: a file beside the study.

    Nowhere else: errors quote a line of the file, and a study may come from anyone.
    """
    path = PurePosixPath(name)
    if path.name != name or path.suffix != ".sql":
        raise InvalidStudy(f"expected the name of a .sql file in the study's folder, got {name[:100]!r}")
    if folder is None:
        raise InvalidStudy(
            'a study that is not a file has no folder to look in; write sql = """SELECT ..."""'
        )
    return families.sql(domain, folder / name)


def _read_marginals(section: Section, domain: Domain) -> Workload:
    """``marginals = { up_to = 2 }``, ``{ exactly = 2 }`` or ``{ sets = [["age", "sex"], ["age"]] }``."""
    choice = section.values["marginals"]
    if not isinstance(choice, dict):
        raise InvalidStudy(f"expected marginals = {{ up_to = 2 }}, got {kind_of(choice)}")
    Section(choice).only("up_to", "exactly", "sets")
    sets = choice.get("sets")
    if sets is not None and not (
        isinstance(sets, list) and all(isinstance(names, list) and _all_text(names) for names in sets)
    ):
        raise InvalidStudy('expected sets = [["age", "sex"], ["age"]], lists of names in a list')
    return families.marginals(domain, **choice, missing=_missing(section))


def _read_product(section: Section, domain: Domain) -> Workload:
    """``product = { age = "ranges", sex = "identity" }``."""
    choice = section.values["product"]
    if not isinstance(choice, dict) or not _all_text(choice.values()):
        raise InvalidStudy('expected product = { age = "ranges", sex = "identity" }')
    return families.product(domain, choice)


def _missing(section: Section) -> bool:
    """``missing = true``: tables with rows for missing values."""
    found = section.values.get("missing", False)
    if not isinstance(found, bool):
        raise InvalidStudy(f"expected missing = true or false, got {kind_of(found)}")
    return found


def _marked(family: Callable[..., Workload], key: str) -> Callable[[Section, Domain], Workload]:
    """A family without settings: ``total = true``."""

    def read(section: Section, domain: Domain) -> Workload:
        if section.values[key] is not True:
            raise InvalidStudy(f"expected {key} = true; leave the entry out if it is not wanted")
        return family(domain, missing=_missing(section)) if key in _TABLES else family(domain)

    return read


def _all_text(values: Any) -> bool:
    """Whether all values are text."""
    return all(isinstance(value, str) for value in values)


_TABLES = ("marginal", "marginals", "cube", "identity")

_FAMILIES: dict[str, Callable[[Section, Domain], Workload]] = {
    "ranges": lambda section, domain: families.ranges(domain, section.text("ranges")),
    "prefixes": lambda section, domain: families.prefixes(domain, section.text("prefixes")),
    "widths": lambda section, domain: families.widths(
        domain, section.text("widths"), section.values["width"]
    ),
    "marginal": lambda section, domain: families.marginal(
        domain, *section.texts("marginal"), missing=_missing(section)
    ),
    "marginals": _read_marginals,
    "cube": _marked(families.cube, "cube"),
    "identity": _marked(families.identity, "identity"),
    "total": _marked(families.total, "total"),
    "predicates": lambda section, domain: families.predicates(domain, section.texts("predicates")),
    "product": _read_product,
    "sql": _read_sql,
}
