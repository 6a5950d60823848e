"""``[study]``, ``[privacy]`` and ``[data]``: its name, what is promised, and where the data is."""

from __future__ import annotations

from typing import ClassVar, Literal
from urllib.parse import parse_qsl, urlsplit

from rowspace.exceptions import InvalidStudy
from rowspace.formats import CSV
from rowspace.privacy import ZCDP, ApproxDP, Neighbours, Privacy, PrivacyUnit, PureDP

from ..study import DataPlace
from .tables import FileTable, Number, Text, Texts, key, option

_SECRETS = ("password", "passwd", "pwd", "token", "secret", "credential", "api_key", "apikey", "signature")


class AboutTable(FileTable):
    """What the study is called."""

    name: Text = key("the title of reports", "Residents 2024")
    description: Text | None = option("for people", "All residents on 1 January")
    purpose: Literal["answers", "tables"] = option(
        '`"tables"` weights tables for `release.estimate_tables()`; `"answers"` are used as they are',
        "tables",
        "answers",
    )
    draft: bool = option(
        "`true` in what `rowspace init` drafts from a look at the data. `rowspace release` refuses a draft: delete "
        "the line when every bound and category is public knowledge. In Python, `study.require_public()` does the same",
        True,
        False,
    )


class PrivacyTable(FileTable):
    """What is promised."""

    epsilon: Number | None = option("pure differential privacy; with `delta`, approximate", 1.0)
    delta: Number | None = option("approximate differential privacy, beside `epsilon`", 1e-9)
    rho: Number | None = option("zero-concentrated differential privacy, instead", 0.1)
    neighbours: Literal["add-remove", "replace-one"] = option(
        '`"add-remove"` protects the number of records too; `"replace-one"` does not',
        "replace-one",
        "add-remove",
    )
    privacy_unit: Text | None = option("the column that names whom the promise is for", "user_id")
    max_rows_per_unit: int | None = option("how many rows of each of them are counted at most", 3)
    distinct_units: bool = option(
        "count each of them at most once in a cell, and in at most `max_rows_per_unit` cells: people rather than rows",
        True,
        False,
    )
    max_periods_per_unit: int | None = option(
        "in plans over periods, in how many of them each is counted at most; `max_rows_per_unit` is of one period",
        12,
    )
    periods_apart: int = option(
        "how many periods later each of them is counted again, beside `max_periods_per_unit`", 3, 1
    )
    choices: ClassVar = (("epsilon", "epsilon delta", "rho"), ("privacy_unit max_rows_per_unit", ""))

    def privacy(self) -> Privacy:
        """The promise."""
        unit = None
        if self.privacy_unit is not None and self.max_rows_per_unit is not None:
            unit = PrivacyUnit(
                self.privacy_unit,
                self.max_rows_per_unit,
                self.distinct_units,
                self.max_periods_per_unit,
                self.periods_apart,
            )
        elif self.distinct_units:
            raise InvalidStudy("distinct_units = true goes with privacy_unit and max_rows_per_unit")
        elif self.max_periods_per_unit is not None or self.periods_apart != 1:
            raise InvalidStudy(
                "max_periods_per_unit and periods_apart go with privacy_unit and max_rows_per_unit"
            )
        about_unit = ("privacy_unit", "max_rows_per_unit", "distinct_units", "max_periods_per_unit")
        numbers = self.given("neighbours", *about_unit, "periods_apart")
        promise = ZCDP if "rho" in numbers else ApproxDP if "delta" in numbers else PureDP
        return promise(**numbers, neighbours=Neighbours.of(self.neighbours), unit=unit)


class DataTable(FileTable):
    """Where the data is, when it is a database; or how a CSV file is written, when that is not obvious."""

    shows: ClassVar = False
    table: Text | None = option("the table of a database", "people")
    url: Text | None = option(
        "its address, without a password; or that of files", "postgresql://host/database"
    )
    url_env: Text | None = option(
        "instead, the name of an environment variable that holds the address", "PEOPLE_DATABASE"
    )
    encoding: str | int | None = option("of a CSV file that is not UTF-8", "windows-1252")
    delimiter: str | None = option("what separates its cells; else the header decides", ";")
    names: Texts | None = option("all its columns, if it has no header line", ["age", "sex"])
    nulls: Texts | None = option("texts that mean a missing value, as an empty cell does", ["NA", "?"])
    strip: bool = option("spaces around values and names are none of theirs", True, False)
    ignore_case: bool = option("text is a category in any case of letters", True, False)
    quoted_newlines: bool = option(
        "cells in quotes may have line breaks; a value with one counts as missing", True, False
    )
    choices: ClassVar = (("url", "url_env", ""),)

    def place(self) -> DataPlace:
        """The place, without secrets."""
        if self.url is not None:
            _refuse_secrets(self.url)
        csv = self.given("table", "url", "url_env")
        CSV("", **csv)  # to refuse here what cannot be
        return DataPlace(self.table, self.url, self.url_env, csv)


def _refuse_secrets(url: str) -> None:
    """Refuse an address that would put a password in a file meant to be shared. The message does not repeat it."""
    try:
        parts = urlsplit(url)
        secret = parts.password is not None or any(
            word in key.lower() for key, _ in parse_qsl(parts.query) for word in _SECRETS
        )
    except ValueError:
        raise InvalidStudy('expected url = "postgresql://host/database", got no address') from None
    if secret:
        raise InvalidStudy(
            "the url holds a password or a token, and a study is meant to be shared: put the whole address in an "
            'environment variable and name it here, url_env = "PEOPLE_DATABASE"'
        )
