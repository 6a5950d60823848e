"""A table of a study file as a pydantic model: its keys, and one sentence about whatever is wrong with them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import date, time
from typing import Annotated, Any, ClassVar, Self, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from pydantic import ModelWrapValidatorHandler as Handler
from pydantic_core import PydanticCustomError

from rowspace.domain import did_you_mean

from ..writing import line

#: The type of the errors whose message is one of our sentences.
MISTAKE = "mistake"
_LONGEST_SHOWN = 60
# By the first word of the type of pydantic's errors.
_WANTED = {
    "int": "a whole number",
    "float": "a number",
    "string": "text",
    "list": "a list",
    "too": "at least one",
}

# A whole number stays one: privacy rounds what floats cannot hold downwards.
Number = Annotated[float | int, WithJsonSchema({"type": "number"})]
Text = Annotated[str, StringConstraints(pattern=r"\S")]
# One mistake is told, and a file may hold a million: the first one ends the list.
Texts = Annotated[list[str], Field(fail_fast=True)]


def key(meaning: str, example: Any, **options: Any) -> Any:
    """A key: what it means, for editors and the reference page, and how it is written, for messages too."""
    return Field(description=meaning, examples=[example], **options)


def option(meaning: str, example: Any, default: Any = None, **options: Any) -> Any:
    """A key that may be left out."""
    return key(meaning, example, default=default, **options)


def _say_choices(schema: dict[str, Any], table: type[FileTable]) -> None:
    """Tell editors of the choices, which the types of the keys do not show, and not what a table is called in here."""
    del schema["title"]
    for ways in table.choices:
        keys = " ".join(ways).split()
        allowed = [
            {"required": way.split(), "properties": {key: False for key in keys if key not in way.split()}}
            for way in ways
        ]
        schema.setdefault("allOf", []).append({"anyOf": allowed})


class FileTable(BaseModel):
    """A table of a study file: its keys are its fields, and there are no others."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, json_schema_extra=_say_choices)
    #: Keys that need or exclude each other: the sets of them that may be given, each as words.
    choices: ClassVar[tuple[tuple[str, ...], ...]] = ()
    #: Whether messages may show the text that was written: not where it may be a password.
    shows: ClassVar[bool] = True

    def given(self, *but: str) -> dict[str, Any]:
        """The keys that are in the file, in the order of their declaration, but for some."""
        names = [
            name for name in type(self).model_fields if name in self.model_fields_set and name not in but
        ]
        return {name: getattr(self, name) for name in names}

    @classmethod
    def example(cls, name: str) -> str:
        """How a key is written, for example."""
        return line(name, (cls.model_fields[name].examples or ["…"])[0])

    @classmethod
    def unknown(cls, name: str) -> str:
        """What to say of a key that is none: a misspelt setting must not be ignored."""
        return unknown_key(name, cls.model_fields)

    @model_validator(mode="wrap")
    @classmethod
    def _explain(cls, value: Any, handler: Handler[Self]) -> Self:
        """Read the table, or say what is wrong in one sentence: pydantic's own are about Python."""
        for name in value if isinstance(value, dict) else ():
            if name not in cls.model_fields:
                raise PydanticCustomError(MISTAKE, cls.unknown(name))
        try:
            table = handler(value)
        except ValidationError as error:
            raise PydanticCustomError(
                MISTAKE, cls._sentence(error.errors(include_url=False)[0], value)
            ) from None
        for ways in cls.choices:
            keys = " ".join(ways).split()
            given = [name for name in cls.model_fields if name in keys and name in table.model_fields_set]
            if not any(set(way.split()) == set(given) for way in ways):
                wanted = ", or else ".join(
                    " and ".join(map(cls.example, way.split())) or "none of them" for way in ways
                )
                got = " and ".join(given) or "none of them"
                raise PydanticCustomError(MISTAKE, f"expected {wanted}; got {got}")
        return table

    @classmethod
    def _sentence(cls, error: Mapping[str, Any], value: Any) -> str:
        """What was expected and what came, from pydantic's first error about a table."""
        if not error["loc"]:
            return f"expected a table of settings, got {shown(value)}"
        name, *inside = error["loc"]
        if error["type"] == MISTAKE and isinstance(error["input"], dict):
            return f"{name}: {error['msg']}"
        annotation, example = cls.model_fields[name].annotation, cls.example(name)
        if error["type"] == "missing":
            return f"{name} is missing; write for example {example}"
        got = shown(error["input"], cls.shows)
        got += " in it" if inside and error["input"] is not value[name] else ""
        if annotation is bool:
            return f"expected {name} = true or {name} = false, got {got}"
        if get_args(annotation) == (True,):
            return f"expected {example}, got {got}; leave the entry out if it is not wanted"
        if error["type"] == "literal_error":
            return f"expected {name} = {error['ctx']['expected']}, got {got}"
        return f"expected {_WANTED.get(error['type'].split('_')[0], 'a table')}, as in {example}; got {got}"


def unknown_key(name: str, known: Iterable[str]) -> str:
    """Name the closest key, or else all of them: there are few, and the one that is meant may be called otherwise."""
    words = list(known)
    return f"unknown key {name[:200]!r}; {did_you_mean(name, words, len(words))}"


def shown(value: object, text_too: bool = True) -> str:
    """A value of the file, if it is short and simple, or else what it is."""
    match value:
        case str() if not value.strip():
            return "empty text"
        case str() if len(value) > _LONGEST_SHOWN or not text_too:
            return "text"
        case str():
            return json.dumps(value, ensure_ascii=not value.isprintable())
        case int() | float():
            return json.dumps(value)
        case date() | time():
            return value.isoformat()
    kind = "list" if isinstance(value, list) else "table"
    return f"a {kind}" if value else f"an empty {kind}"
