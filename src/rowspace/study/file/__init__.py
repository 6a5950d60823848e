"""A whole study file as pydantic models, and as a JSON Schema for editors."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import PydanticCustomError, core_schema

from rowspace.domain import Domain, Measure
from rowspace.exceptions import InvalidStudy
from rowspace.planning import Known, known_facts
from rowspace.workload import Part, Workload

from ..study import located
from .attributes import AboutTable, AnyAttribute, DataTable, MeasureTable, PrivacyTable, typeless
from .queries import AnyQuery, nameless
from .tables import MISTAKE, FileTable, shown

__all__ = ["StudyFile", "json_schema", "read_file"]

#: Most attributes, and most [[workload]] entries.
MAX_ATTRIBUTES = MAX_ENTRIES = 10_000


def _few(attributes: Any) -> Any:
    """Refuse too many before they are read: each may have a mistake."""
    if isinstance(attributes, dict) and len(attributes) > MAX_ATTRIBUTES:
        raise PydanticCustomError(
            MISTAKE, f"at most {MAX_ATTRIBUTES:,} attributes are possible, got {len(attributes):,}"
        )
    return attributes


class StudyFile(FileTable):
    """A study: what is counted, what is asked and what is promised. It is public and holds no data."""

    study: AboutTable
    privacy: PrivacyTable
    domain: Annotated[dict[str, AnyAttribute], BeforeValidator(_few)] = Field(min_length=1)
    measure: Annotated[dict[str, MeasureTable], BeforeValidator(_few)] = Field(default_factory=dict)
    workload: list[AnyQuery] = Field(min_length=1, max_length=MAX_ENTRIES, fail_fast=True)
    known: dict[str, float | list[str]] = Field(
        default_factory=dict,
        description="public facts: conditions, or total, and what they count; impossible: conditions nobody satisfies",
        examples=[{"total": 20000, "region = 'Nord'": 4100, "impossible": ["age < 15 and married"]}],
    )
    data: DataTable = DataTable()

    def read_known(self, domain: Domain) -> Known:
        """Public facts, which must be about the domain."""
        counts = {text: value for text, value in self.known.items() if text != "impossible"}
        found = known_facts(counts, self.known.get("impossible", []))
        found.queries(domain)
        return found

    def read_domain(self) -> Domain:
        """The declared attributes."""
        attributes = {}
        for name, table in self.domain.items():
            with located(f"[domain.{name[:200]}]"):
                attributes[name] = table.attribute()
        measures = []
        for name, given in self.measure.items():
            with located(f"[measure.{name[:200]}]"):
                measures.append(
                    Measure(
                        name,
                        given.low,
                        given.high,
                        step=given.step,
                        squares=given.squares,
                        per_unit=given.per_unit,
                    )
                )
        with located("[domain]"):
            return Domain(attributes, measures=measures)

    def read_workload(self, domain: Domain, folder: Path | None = None) -> Workload:
        """The union of all entries, in the order of the file; `folder` is where files of SQL may be."""
        parts: list[Part] = []
        for number, entry in enumerate(self.workload, start=1):
            with located(f"[[workload]] entry {number}"):
                parts.extend(entry.queries(domain, folder).parts)
        with located("[[workload]]"):
            return Workload(domain, parts)

    @classmethod
    def _sentence(cls, error: Mapping[str, Any], value: Any) -> str:
        """The place in the file, and what is wrong there."""
        got = error["input"]
        match error["loc"]:
            case ("workload",):
                if error["type"] == "too_long":
                    return f"at most {MAX_ENTRIES:,} [[workload]] entries are possible, got {len(got):,}"
                if error["type"] == "list_type" and isinstance(got, dict):
                    return "[workload]: write [[workload]], in double brackets, before each family of queries"
                return 'a study needs at least one query: write for example [[workload]] with marginal = ["age", "sex"]'
            case ("workload" | "domain" | "measure" as section, at, *inside):
                place = f"[[workload]] entry {at + 1}" if section == "workload" else f"[{section}.{at[:200]}]"
                if inside or (section == "measure" and error["type"] == MISTAKE):
                    return f"{place}: {error['msg']}"
                if isinstance(got, dict):
                    return f"{place}: {nameless(got) if section == 'workload' else typeless(got)}"
                return f"{place}: expected a table of settings, got {shown(got)}"
            case ("domain",) if error["type"] == "too_short":
                example = '[domain.sex] with type = "categorical" and categories = ["F", "M"]'
                return f"the domain is empty: write for example {example}"
            case (section, *_) if error["type"] == "missing":
                return f"[{section}] is missing: a study has [study], [privacy], [domain.…], [[workload]]"
            case (section, *_) if error["type"] == MISTAKE:
                return f"[{section}]: {error['msg']}"
            case ("known", name, *_):
                wanted = (
                    "impossible as a list of conditions"
                    if name == "impossible"
                    else f"a number for {name[:200]!r}"
                )
                return f"[known]: expected {wanted}, got {shown(got)}"
            case (section, *_):
                return f"[{section}]: expected a table of settings, got {shown(got)}"
        return super()._sentence(error, value)


def read_file(tree: dict[str, Any]) -> StudyFile:
    """The study that a tree of TOML values says.

    Raises:
        InvalidStudy: One sentence with the place in the file, what was expected and what came.
    """
    try:
        return StudyFile.model_validate(tree)
    except ValidationError as error:
        raise InvalidStudy(error.errors(include_url=False)[0]["msg"]) from None


class _EditorSchema(GenerateJsonSchema):
    """Without what says nothing in TOML: null, and titles that repeat the keys."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        made = super().default_schema(schema)
        return {name: value for name, value in made.items() if name != "default" or value not in (None, {})}

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def json_schema() -> dict[str, Any]:
    """The JSON Schema of study files."""
    made = StudyFile.model_json_schema(schema_generator=_EditorSchema)
    return {"$schema": _EditorSchema.schema_dialect, **made}
