"""Parse and resolve references from a task's inputs to entities of earlier tasks.

KPI-Chain (docs/method.md), section 3.4: a value that is one reference keeps the entity's type,
`[*]` is the whole array, and a reference inside a longer text is put into the text.

References are written by models. So a path has at most 500 characters, and each of its steps takes
one name, one index, one slice or `[*]`: resolving it reads each value in memory at most once.
JSONPath's `..`, filters and unions, which can take hours over a small value, are refused.
"""

import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from jsonpath import JSONPath, JSONPathEnvironment
from jsonpath.exceptions import JSONPathError
from jsonpath.segments import JSONPathChildSegment, JSONPathSegment
from jsonpath.selectors import IndexSelector, NameSelector, SliceSelector, WildcardSelector
from pydantic import JsonValue

from holdfast.models.errors import Unresolved
from holdfast.models.text.json_leaves import texts_in
from holdfast.models.text.reference_marks import (
    foreign_marks,
    reference_to,
    referenced_paths,
    replace_references,
    restore_references,
    whole_reference,
)
from holdfast.models.text.value_text import value_as_text

MAX_REFERENCE_CHARS = 500
_SELECTORS = (NameSelector, IndexSelector, SliceSelector, WildcardSelector)
_HEAD = re.compile(r"\$\.?(?:\[(?:'([^']+)'|\"([^\"]+)\")\]|(\w+))")
_STEP = re.compile(r"(?:\$\.)?([A-Za-z]\w*\.\d\w*)(?=[.\[]|$)")
"""An id such as `T3.1`; no entity's name begins with a digit."""
_ENTITY = re.compile(r"(?:\.|\[['\"])(\w+)")


_PATHS = JSONPathEnvironment(strict=True)


@dataclass(frozen=True)
class Reference:
    """One reference: the path as written, the task it reads, and the entity, if it names one."""

    path: str
    task_id: str
    entity: str | None
    is_single: bool
    is_whole_array: bool
    is_plain: bool
    """True if it is the whole entity, and nothing inside it."""


def _rooted(path: str) -> str:
    """The path as JSONPath has it: the dot of a step's id is part of a name, not a way into it."""
    step = _STEP.match(path)
    if step:
        return f"$['{step.group(1)}']{path[step.end() :]}"
    return path if path.startswith("$") else f"$.{path}"


@lru_cache(maxsize=4096)
def parse_reference(path: str) -> Reference:
    """The reference that `path` stands for; `T1.x` and `$.T1.x` mean the same.

    Raises:
        Unresolved: it is not a JSONPath, does not begin with a task's id, or may take too long.
    """
    if len(path) > MAX_REFERENCE_CHARS:
        raise Unresolved(
            f"reference {path[:60]!r}... has {len(path)} characters;"
            f" the limit is {MAX_REFERENCE_CHARS}"
        )
    full = _rooted(path)
    try:
        query = _PATHS.compile(full)
    except (JSONPathError, KeyError, ValueError, ArithmeticError, RecursionError) as error:
        raise Unresolved(f"reference {path!r} is not a JSONPath: {_first_line(error)}") from error
    head = _HEAD.match(full)
    if head is None or not isinstance(query, JSONPath):
        raise Unresolved(f"reference {path!r} does not begin with a task's id, as in T1.name")
    if not all(map(_takes_one_step, query.segments)):
        raise Unresolved(
            f"reference {path!r} has `..`, a filter or several selectors;"
            " write a path of names, indices and [*], as in T1.names[*]"
        )
    entity = _ENTITY.match(full, head.end())
    inner = full[entity.end() :].strip("'\"]") if entity else ""
    return Reference(
        path=path,
        task_id=next(part for part in head.groups() if part),
        entity=entity.group(1) if entity else None,
        is_single=query.singular_query(),
        is_whole_array=full.endswith("[*]") and full.count("[*]") == 1,
        is_plain=entity is not None and not inner,
    )


def _takes_one_step(segment: JSONPathSegment) -> bool:
    """True if the segment reads each value below it at most once."""
    selectors = list(segment.selectors)
    is_child = isinstance(segment, JSONPathChildSegment)
    return is_child and len(selectors) == 1 and isinstance(selectors[0], _SELECTORS)


def references_in(value: JsonValue) -> Iterator[Reference]:
    """Every reference in a value, however deep it sits.

    Raises:
        Unresolved: one of them is malformed.
    """
    for text in texts_in(value):
        yield from (parse_reference(path) for path in referenced_paths(text))


def misspelt_reference_faults(value: JsonValue, ids: Container[str]) -> Iterator[str]:
    """Faults of the marks of other template languages around a path that begins with a task's id.

    They are refused and not read: a page may hold one, and a model may copy it.
    """
    for mark, path in foreign_marks(value):
        # The id of an agent's step has a dot of its own.
        if path.partition(".")[0] in ids or path.rpartition(".")[0] in ids:
            yield f"{mark!r} is no reference; write {reference_to(path)}"


def resolve_references(
    value: JsonValue, memory: Mapping[str, Mapping[str, JsonValue]]
) -> JsonValue:
    """The value with every reference replaced from memory, types kept.

    What memory holds is put in as it is: a reference in a found value is text. So is one that a
    model copied from what it was shown (`reference_marks.disarm_references`).

    Raises:
        Unresolved: a reference points to nothing, named in the message.
    """
    if isinstance(value, dict):
        return {name: resolve_references(each, memory) for name, each in value.items()}
    if isinstance(value, list):
        return [resolve_references(each, memory) for each in value]
    if not isinstance(value, str):
        return value
    whole = whole_reference(value)
    if whole is not None:
        return _look_up(whole, memory)
    return restore_references(
        replace_references(value, lambda path: _inside_text(_look_up(path, memory)))
    )


def _look_up(path: str, memory: Mapping[str, Mapping[str, JsonValue]]) -> JsonValue:
    reference = parse_reference(path)
    full = _rooted(path)
    found = cast(
        "list[JsonValue]", _PATHS.findall(full, memory)
    )  # memory is JSON, so is what is in it
    if reference.is_whole_array and not _base_exists(full, memory):
        raise Unresolved(f"reference {path!r} points to nothing in memory")
    if not reference.is_single:
        return found
    if not found or found[0] is None:
        raise Unresolved(f"reference {path!r} points to nothing in memory")
    return found[0]


def _base_exists(full: str, memory: Mapping[str, Mapping[str, JsonValue]]) -> bool:
    base = _PATHS.findall(full.removesuffix("[*]").rstrip(), memory)
    return bool(base) and isinstance(base[0], list)


def _inside_text(value: JsonValue) -> str:
    """The value as a part of a longer text: a list of plain values reads as an enumeration."""
    if isinstance(value, list) and not any(isinstance(item, dict | list) for item in value):
        return ", ".join(map(value_as_text, value))
    return value_as_text(value)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
