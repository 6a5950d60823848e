"""``[privacy]`` and ``[data]``: what is promised, where the data is (never how to get in), and its form."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from rowspace.exceptions import InvalidInput, InvalidStudy
from rowspace.formats import CSV, DATABASE_ENDINGS, PARQUET_ENDINGS
from rowspace.privacy import ZCDP, ApproxDP, Neighbours, Privacy, PrivacyUnit, PureDP

from .section import Section

_SECRETS = ("password", "passwd", "pwd", "token", "secret", "credential", "api_key", "apikey")


def read_privacy(section: Section) -> Privacy:
    """ε alone is pure, with δ approximate; ρ is zero-concentrated."""
    section.only("epsilon", "delta", "rho", "neighbours", "privacy_unit", "max_rows_per_unit")
    neighbours = Neighbours.of(section.values.get("neighbours", Neighbours.ADD_REMOVE))
    unit = _read_unit(section)
    numbers = {key: section.values[key] for key in ("epsilon", "delta", "rho") if key in section.values}
    match tuple(numbers):
        case ("epsilon",):
            return PureDP(numbers["epsilon"], neighbours=neighbours, unit=unit)
        case ("epsilon", "delta"):
            return ApproxDP(numbers["epsilon"], numbers["delta"], neighbours=neighbours, unit=unit)
        case ("rho",):
            return ZCDP(numbers["rho"], neighbours=neighbours, unit=unit)
    raise InvalidStudy(
        "expected epsilon (pure differential privacy), epsilon and delta (approximate), or rho "
        f"(zero-concentrated); got {' and '.join(numbers) or 'none of them'}"
    )


def _read_unit(section: Section) -> PrivacyUnit | None:
    """The column whose values are protected as wholes, and how many rows of each are counted: both or neither."""
    column, rows = section.optional_text("privacy_unit"), section.values.get("max_rows_per_unit")
    if column is None and rows is None:
        return None
    if column is None or rows is None:
        raise InvalidStudy(
            'a privacy unit needs privacy_unit = "user_id" and max_rows_per_unit = 3, the most rows of each that are '
            f"counted; got only {'max_rows_per_unit' if column is None else 'privacy_unit'}"
        )
    return PrivacyUnit(column, rows)


@dataclass(frozen=True)
class DataPlace:
    """Where a database is: its address without secrets, or the environment variable that holds it; its table.

    csv: what is declared of a CSV file, as arguments of `rs.CSV`.
    """

    table: str | None = None
    url: str | None = None
    url_env: str | None = None
    csv: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def source(self, address: str) -> str | CSV:
        """What to read at an address, a path or a URL: a CSV file as it is declared, everything else as it is.

        Raises:
            InvalidInput: A CSV file is declared, and this is something else.
        """
        if not self.csv:
            return address
        if "://" in address or Path(address).suffix.lower() in (*PARQUET_ENDINGS, *DATABASE_ENDINGS):
            raise InvalidInput(
                f"[data] declares a CSV file ({', '.join(self.csv)}), got another kind of source; leave these keys "
                "out, or give a CSV file"
            )
        return CSV(address, **self.csv)


_CSV_KEYS = tuple(field.name for field in dataclasses.fields(CSV) if field.name != "path")


def read_data(section: Section) -> DataPlace:
    """The optional place of the data, and its form."""
    section.only("table", "url", "url_env", *_CSV_KEYS)
    url, url_env = section.optional_text("url"), section.optional_text("url_env")
    if url is not None and url_env is not None:
        raise InvalidStudy("give url or url_env, got both")
    if url is not None:
        _refuse_secrets(url)
    csv = {key: section.values[key] for key in _CSV_KEYS if key in section.values}
    CSV("", **csv)  # to refuse here what cannot be
    return DataPlace(section.optional_text("table"), url, url_env, csv)


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
