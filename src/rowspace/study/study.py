"""Study: the whole file as a value, read from its bytes within limits, since the file may come from anyone."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rowspace.domain import Domain
from rowspace.exceptions import InvalidInput, InvalidStudy, RowspaceError
from rowspace.files import open_regular
from rowspace.formats import CSV, DATABASE_ENDINGS, PARQUET_ENDINGS, is_remote
from rowspace.notebook import one_line
from rowspace.planning import Known, Purpose
from rowspace.privacy import Privacy
from rowspace.workload import Workload

#: Most bytes of a study file: room for a taxonomy of 50,000 places.
MAX_BYTES = 2**22
#: Most tables inside one another; a study needs five.
MAX_DEPTH = 8
# Python's TOML parser takes time quadratic in the number of parts of a dotted key.
_MOST_DOTS = 64
_INT64 = 2**63


@contextmanager
def located(place: str) -> Iterator[None]:
    """Put a place in the file before the message of any error of ours raised inside; its type stays."""
    try:
        yield
    except RowspaceError as error:
        error.args = (f"{place}: {error}", *error.args[1:])
        raise


def read_text(path: str | os.PathLike[str]) -> str:
    """The text of a study file.

    Raises:
        InvalidStudy: It is missing, unreadable, too large or not UTF-8.
    """
    name = Path(path).name
    try:
        with open_regular(path) as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise InvalidStudy(
            f"expected a study file, got nothing at {os.fspath(path)}; `rowspace init` drafts one"
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "that is no file name"
        raise InvalidStudy(f"cannot read the study {name}: {reason}") from None
    _check_size(len(data))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidStudy(f"{name} is no UTF-8 text (byte {error.start}): expected a TOML file") from None


def parse_text(text: str) -> dict[str, Any]:
    """The tree of a TOML text: tables, lists, text, 64-bit integers, floats, booleans and dates.

    Raises:
        InvalidStudy: The text is no TOML (with the line), or beyond a limit.
    """
    _check_size(len(text))
    if any(piece.count(".") > _MOST_DOTS for piece in re.split(r"[=,\n]", text)):
        raise InvalidStudy(f"a name with more than {_MOST_DOTS} dots has no place in a study")
    try:
        tree = tomllib.loads(text.replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as error:
        raise InvalidStudy(f"this is no TOML: {error}") from None
    except ValueError:  # the only other one: a number of thousands of digits, or a date that cannot be
        raise InvalidStudy("this is no TOML: a number or a date in it cannot be") from None
    except RecursionError:
        raise InvalidStudy(f"lists and tables go deeper than {MAX_DEPTH} levels") from None
    _check_tree(tree.values())
    return tree


def _check_size(size: int) -> None:
    """Refuse a file beyond the limit."""
    if size > MAX_BYTES:
        raise InvalidStudy(f"a study file has at most {MAX_BYTES:,} bytes, got more; is this the right file?")


def _check_tree(values: Iterable[Any], depth: int = 1) -> None:
    """Refuse deep nesting and integers that TOML does not promise."""
    if depth > MAX_DEPTH:
        raise InvalidStudy(f"lists and tables go deeper than {MAX_DEPTH} levels")
    for value in values:
        if isinstance(value, dict):
            _check_tree(value.values(), depth + 1)
        elif isinstance(value, list):
            _check_tree(value, depth + 1)
        elif isinstance(value, int) and not -_INT64 <= value < _INT64:
            raise InvalidStudy("a study holds integers of at most 64 bits, got a larger one")


@dataclass(frozen=True)
class DataPlace:
    """Where a database is: its address without secrets, or the environment variable that holds it; its table.

    csv: what is declared of a CSV file, as arguments of `rs.CSV`.
    """

    table: str | None = None
    url: str | None = None
    url_env: str | None = None
    csv: Mapping[str, Any] = field(default_factory=dict)

    def source(self, address: str) -> str | CSV:
        """What to read at an address, a path or a URL: a CSV file as it is declared, everything else as it is.

        Raises:
            InvalidInput: A CSV file is declared, and this is something else.
        """
        if not self.csv:
            return address
        is_database = "://" in address and not is_remote(address)
        if is_database or Path(address).suffix.lower() in (*PARQUET_ENDINGS, *DATABASE_ENDINGS):
            raise InvalidInput(
                f"[data] declares a CSV file ({', '.join(self.csv)}), got another kind of source; leave these keys "
                "out, or give a CSV file"
            )
        return CSV(address, **self.csv)


@dataclass(frozen=True)
class Study:
    """What a study file says: everything a plan needs, and nothing from the data.

    Attributes
    ----------
    name, description: for people.
    domain: the declared attributes, all of them.
    workload: the queries.
    privacy: the guarantee.
    data: where the data is, if the file says so (never with a password), and how a CSV file is written.
    purpose: what the answers are for, as `plan` takes it.
    known: public facts that answers keep to.
    draft: whether its domain was read off the data and nobody has said yet that it is public knowledge now.

    >>> study = Study.parse('''
    ... [study]
    ... name = "Residents"
    ... [privacy]
    ... epsilon = 1.0
    ... [domain.age]
    ... type = "numeric"
    ... low = 0
    ... high = 100
    ... bins = 100
    ... [[workload]]
    ... ranges = "age"
    ... ''')
    >>> study.name, study.workload.size, str(study.privacy)
    ('Residents', 5050, '1-differential privacy (add or remove one record)')

    Guarantees
    - Reading a study opens no data and no environment (tests/study/test_study.py::test_reading_opens_nothing).
    - An address with a password in it is refused (tests/study/test_bad_studies.py).
    - Any text gives a study or one `RowspaceError`, within bounded time and memory
      (tests/study/test_fuzz.py::test_any_text_is_a_study_or_one_clear_error).
    """

    name: str
    domain: Domain
    workload: Workload
    privacy: Privacy
    description: str | None = None
    data: DataPlace = field(default_factory=DataPlace)
    draft: bool = False
    purpose: Purpose = "answers"
    known: Known = field(default_factory=Known)

    @property
    def wishes(self) -> dict[str, Any]:
        """What `rs.plan` is told beside the workload and the guarantee.

        >>> from rowspace.sample import people_path
        >>> Study.load(people_path().with_name("people.toml")).wishes["purpose"]
        'answers'
        """
        facts = {"known": dict(self.known.counts), "impossible": self.known.impossible}
        return {"purpose": self.purpose, **(facts if self.known else {})}

    def __repr__(self) -> str:
        return one_line(f"<Study {self.name!r}: {self.workload.size:,} queries under {self.privacy}>")

    @property
    def table(self) -> str | None:
        """The table of the database, if the file names one."""
        return self.data.table

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Study:
        """Read a study file. Errors name the file and the place in it. path: a TOML file.

        Raises:
            RowspaceError: `InvalidStudy`, `InvalidDomain`, `InvalidWorkload`, `InvalidPrivacy` or `TooLarge`.

        >>> from rowspace.sample import people_path
        >>> Study.load(people_path().with_name("people.toml")).name
        'People'
        """
        text = read_text(path)
        with located(Path(path).name):
            return cls.parse(text, Path(path).parent)

    @classmethod
    def parse(cls, text: str, folder: Path | None = None) -> Study:
        """The study that a TOML text describes; `folder` is where it may name files of SQL.

        text: TOML.
        folder: where it may name files of SQL.

        >>> from rowspace.sample import people_path
        >>> Study.parse(people_path().with_name("people.toml").read_text(encoding="utf-8")).draft
        False
        """
        from .file import read_file  # here: pydantic takes a tenth of a second to load

        file = read_file(parse_text(text))
        with located("[privacy]"):
            privacy = file.privacy.privacy()
        with located("[data]"):
            data = file.data.place()
        domain = file.read_domain()
        workload = file.read_workload(domain, folder)
        with located("[known]"):
            known = file.read_known(domain)
        about = file.study
        return cls(
            about.name, domain, workload, privacy, about.description, data, about.draft, about.purpose, known
        )

    @staticmethod
    def json_schema() -> dict[str, Any]:
        """The JSON Schema of study files: editors complete and check them by it, and `rowspace schema` writes it.

        >>> sorted(Study.json_schema()["properties"])
        ['data', 'domain', 'known', 'measure', 'privacy', 'study', 'workload']
        """
        from .file import json_schema

        return json_schema()

    def require_public(self) -> None:
        """Refuse to release by a draft: its bounds and categories are published, and they came from the data.

        Raises:
            InvalidStudy: It is a draft.

        >>> from rowspace.sample import people_path
        >>> Study.load(people_path().with_name("people.toml")).require_public()
        """
        if self.draft:
            raise InvalidStudy(
                "the study is a draft of `rowspace init`, which looked at the data: a release would publish its bounds "
                'and categories without privacy; replace them by public knowledge, then delete the line "draft = true"'
            )

    def source(self, address: str | os.PathLike[str]) -> str | CSV:
        """What `rs.release` is to read at a path or a URL: a CSV file as [data] declares it, all else as it is.

        address: the path or URL.

        >>> from rowspace.sample import people_path
        >>> Study.load(people_path().with_name("people.toml")).source("people.parquet")
        'people.parquet'

        Raises:
            InvalidInput: [data] declares a CSV file, and this is something else.
        """
        return self.data.source(os.fspath(address))

    def table_at(self, address: str | os.PathLike[str]) -> str | None:
        """The study's table, when the source at an address has tables; a file may stand in for the database.

        address: a path or a URL.

        >>> from rowspace.sample import people_path
        >>> Study.load(people_path().with_name("people.toml")).table_at("people.csv") is None
        True
        """
        place = os.fspath(address)
        return self.table if "://" in place or Path(place).suffix.lower() in DATABASE_ENDINGS else None

    def database_url(self) -> str | None:
        """The address of the database, from the file or from the environment variable it names; None if neither.

        Raises:
            InvalidStudy: The variable is not set.

        >>> from rowspace.sample import people_path
        >>> Study.load(people_path().with_name("people.toml")).database_url() is None
        True
        """
        if self.data.url_env is None:
            return self.data.url
        url = os.environ.get(self.data.url_env)
        if not url:
            raise InvalidStudy(
                f"[data]: the environment variable {self.data.url_env} is not set; it should hold the address "
                "of the database"
            )
        return url
