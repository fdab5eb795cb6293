"""Define the base type of all answers of models, and the values that an answer may hold.

Answers are read leniently where their meaning is clear: a field or a fixed word in another case, a
confidence in percent, one text in place of a list of texts, and inputs as an object of their names.
What could mean two things is refused, and the model is told what to correct.
"""

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import cache, partial
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    WithJsonSchema,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

_SCALARS = [{"type": name} for name in ("string", "number", "integer", "boolean")]

_LISTS = [{"type": "array", "items": {"type": name}} for name in ("string", "number")]

_TYPES: dict[str, Any] = {"anyOf": [*_SCALARS, *_LISTS, {"type": "null"}]}
AS_JSON_TEXT = "an object, or a list of objects, as JSON text"

DraftValue = Annotated[JsonValue, WithJsonSchema(_TYPES | {"description": AS_JSON_TEXT})]
"""Any JSON value is read; the schema names those that strict endpoints can enforce.

Endpoints enforce no objects of free names, so models write them as JSON text, which is read where
the declared type or the tool asks for an object or a list (`convert_to_type`, `fit_to_tools`).
"""

_SURELY_PERCENT = 10
"""Up to here a number may be one of ten points instead of a hundred."""
_SURELY_ONE = {"name", "value", "confidence"}
"""Nobody asks for three values of these names: an object with them is one value."""
_AROUND_WORDS = " \t\n.,;:!*`\"'"
_MARK = re.compile(r"\s*[\[(#]\s*(\d{1,9})\s*[\])]?\s*")
_PERCENT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*%\s*")


def _as_share(value: object) -> object:
    """The confidence with percent as a share: 95, `"95"` and `"95%"` are 0.95."""
    if isinstance(value, bool):
        raise PydanticCustomError("confidence", "Input should be a number from 0 to 1")
    if isinstance(value, str):
        percent = _PERCENT.fullmatch(value)
        if percent:
            share = float(percent[1]) / 100
            # "0.95%" is more likely a share with a sign too many than one in a hundred.
            return share if share == 0 or share >= 1 / 100 else value
        try:
            value = float(value)
        except ValueError:
            return value
    if isinstance(value, int | float) and _SURELY_PERCENT < value <= 100:
        return value / 100
    return value


Confidence = Annotated[float, Field(ge=0, le=1), BeforeValidator(_as_share)]
"""A confidence or a completeness from 0 to 1."""


class Draft(BaseModel):
    """The base of all answers; fields that the answer does not define are dropped.

    A name in another case or with other separators (`dependsOn`) is read as the field. One that is
    a letter away from a field that is missing is refused, as its content would be lost.
    """

    model_config = ConfigDict(extra="ignore", populate_by_name=True)

    @model_validator(mode="before")
    @classmethod
    def _with_declared_names(cls, value: object) -> object:
        if not isinstance(value, dict):
            return value
        if not value.keys() <= _field_by_name(cls).keys():
            value = _renamed(cls, value)
        readers = _reader_by_name(cls)
        return {name: readers.get(name, _as_it_is)(content) for name, content in value.items()}


def _as_it_is(content: object) -> object:
    return content


@cache
def _reader_by_name(model: type[Draft]) -> Mapping[str, Callable[[object], object]]:
    """How the fields are read that have a clear meaning in another form, by all their names."""
    readers = {name: _reader_of(field) for name, field in model.model_fields.items()}
    by_name = {name: readers[field] for name, field in _field_by_name(model).items()}
    return {name: reader for name, reader in by_name.items() if reader is not None}


def _reader_of(field: FieldInfo) -> Callable[[object], object] | None:
    words = _words_of(field.annotation)
    if words:
        return partial(_as_word, {word.casefold(): word for word in words})
    if field.annotation in (int, int | None):
        return _as_number
    if get_origin(field.annotation) is not list:
        return None
    (element,) = get_args(field.annotation)
    return partial(_as_list, element, not field.is_required())


def _words_of(annotation: Any) -> tuple[str, ...]:  # noqa: ANN401 - any type
    """The fixed words that a field may be; none if it may be something else."""
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return tuple(annotation)
    words = get_args(annotation) if get_origin(annotation) is Literal else ()
    return words if all(isinstance(word, str) for word in words) else ()


def _as_word(words: Mapping[str, str], content: object) -> object:
    """The word in its own case, without a stop or quotes around it."""
    if not isinstance(content, str):
        return content
    return words.get(content.strip(_AROUND_WORDS).casefold(), content)


def _as_number(content: object) -> object:
    """The number that a mark such as `[2]` names."""
    mark = _MARK.fullmatch(content) if isinstance(content, str) else None
    return int(mark[1]) if mark else content


def _as_list(element: Any, may_be_empty: bool, content: object) -> object:  # noqa: ANN401 - any type
    """The list that is meant by nothing, by one text or object, or by names and values."""
    if may_be_empty and (content is None or content == ""):
        return []
    if element is str and isinstance(content, str):
        return [content]
    if not isinstance(content, dict) or not _is_draft(element):
        return content
    fields = _field_by_letters(element)
    given = {fields.get(_letters(str(name)[:_LONGEST_NAME]), name) for name in content}
    is_one = given <= element.model_fields.keys()
    if not {"name", "value"} <= element.model_fields.keys():
        return [content] if is_one else content
    if is_one and given >= _SURELY_ONE:
        return [content]
    if is_one:
        return content  # one element, or parameters of these names
    return [{"name": name, "value": value} for name, value in content.items()]


def _is_draft(element: Any) -> bool:  # noqa: ANN401 - any type
    return isinstance(element, type) and issubclass(element, Draft)


def _renamed(model: type[Draft], value: Mapping[Any, Any]) -> dict[Any, Any]:
    declared = _field_by_name(model)
    given = {declared[name] for name in value if name in declared}
    renamed: dict[Any, Any] = {}
    for name, content in value.items():
        field = None if name in declared else _field_meant(model, name, given)
        if field is not None:
            given.add(field)
        renamed[field or name] = content
    return renamed


def _field_meant(model: type[Draft], name: object, given: set[str]) -> str | None:
    """The field, not yet given, that an unknown name stands for; None if it stands for none.

    Raises:
        PydanticCustomError: the name is only nearly that of a field.
    """
    written = _letters(str(name)[:_LONGEST_NAME])
    missing = {
        letters: field for letters, field in _field_by_letters(model).items() if field not in given
    }
    if written in missing:
        return missing[written]
    near = next((field for letters, field in missing.items() if _is_one_edit(written, letters)), "")
    if near:
        raise PydanticCustomError(
            "unknown_field",
            "there is no field '{name}'; write '{near}'",
            {"name": name, "near": near},
        )
    return None


_LONGEST_NAME = 60
_SHORTEST_NEAR = 4
"""Letters of the shortest name that another one can be near to."""


@cache
def _field_by_name(model: type[Draft]) -> Mapping[str, str]:
    """The fields by all names under which they are read."""
    names: dict[str, str] = {}
    for field, info in model.model_fields.items():
        alias = info.validation_alias
        others = alias.choices if isinstance(alias, AliasChoices) else ()
        names |= dict.fromkeys((field, *(each for each in others if isinstance(each, str))), field)
    return names


@cache
def _field_by_letters(model: type[Draft]) -> Mapping[str, str]:
    return {_letters(name): field for name, field in _field_by_name(model).items()}


def _letters(name: str) -> str:
    return "".join(sign for sign in name.casefold() if sign.isalnum())


def _is_one_edit(one: str, other: str) -> bool:
    """True if a letter more, less, another, or swapped with the next makes one of the other."""
    short, long = sorted((one, other), key=len)
    if len(short) < _SHORTEST_NEAR or len(long) - len(short) > 1:
        return False
    at = next((n for n, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) < len(long):
        return short[at:] == long[at + 1 :]
    swapped = short[:at] + short[at : at + 2][::-1] + short[at + 2 :]
    return short[at + 1 :] == long[at + 1 :] or swapped == long
