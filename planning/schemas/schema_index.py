"""Find the keywords of a schema and the targets of its references, each once."""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from holdfast.planning.schemas.canonical_json import canonical_json
from holdfast.planning.schemas.combining_keywords import COMBINING_KEYWORDS
from holdfast.planning.schemas.container_keywords import CONTAINER_KEYWORDS
from holdfast.planning.schemas.counted_steps import Steps, UncheckableSchema
from holdfast.planning.schemas.keyword_check import KeywordCheck, Kinds, Schema
from holdfast.planning.schemas.scalar_keywords import SCALAR_KEYWORDS

_KEYWORDS = SCALAR_KEYWORDS | CONTAINER_KEYWORDS | COMBINING_KEYWORDS
"""In the order of evaluation: a fault of the whole value is told before a fault of a part."""
_ALONE = ("draft-03", "draft-04", "draft-06", "draft-07")
"""The drafts in which `$ref` replaces all other keywords of its schema."""
_MAX_REFERENCE_CHARS = 500


class SchemaIndex:
    """The parts of one schema, found when they are first needed.

    Parts are known by their identity: the schema that holds them must not change.
    """

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._is_reference_alone = any(draft in str(root.get("$schema")) for draft in _ALONE)
        self._checks: dict[int, tuple[KeywordCheck, ...]] = {}
        self._targets: dict[str, object] = {}
        self._texts: dict[int, frozenset[str]] = {}
        self._anchors: Mapping[str, object] | None = None

    def checks_of(self, schema: Schema, steps: Steps) -> tuple[KeywordCheck, ...]:
        """Return the checks of the keywords that the schema has."""
        found = self._checks.get(id(schema))
        if found is None:
            steps.take(len(_KEYWORDS))
            found = self._checks[id(schema)] = tuple(self._find_checks(schema))
        return found

    def _find_checks(self, schema: Schema) -> Iterator[KeywordCheck]:
        if self._is_reference_alone and isinstance(schema.get("$ref"), str):
            yield _KEYWORDS["$ref"][1]
            return
        for name, (kinds, check) in _KEYWORDS.items():
            if name in schema and _is_a(schema[name], kinds):
                yield check

    def canonical_texts(self, values: list[object], steps: Steps) -> frozenset[str]:
        """Return the canonical texts of the values of an `enum`."""
        found = self._texts.get(id(values))
        if found is None:
            found = frozenset(canonical_json(value, steps) for value in values)
            self._texts[id(values)] = found
        return found

    def target(self, reference: str, steps: Steps) -> object:
        """Return the schema that a `$ref` names.

        Raises:
            UncheckableSchema: the schema has no such part; none is fetched from elsewhere.
        """
        if reference not in self._targets:
            self._targets[reference] = self._find_target(reference, steps)
        return self._targets[reference]

    def _find_target(self, reference: str, steps: Steps) -> object:
        steps.take(len(reference))
        document, _, fragment = reference.partition("#")
        if document and document != str(self._root.get("$id", "")).rstrip("#"):
            raise UncheckableSchema(f"it refers to another document: {_cut(reference)!r}")
        if fragment and not fragment.startswith("/"):
            return self._anchored(unquote(fragment), reference, steps)
        found: Any = self._root
        for part in fragment.split("/")[1:]:
            found = _member(found, unquote(part).replace("~1", "/").replace("~0", "~"))
            if found is None:
                raise UncheckableSchema(f"it refers to nothing: {_cut(reference)!r}")
        return found

    def _anchored(self, name: str, reference: str, steps: Steps) -> object:
        if self._anchors is None:
            self._anchors = dict(_anchors_in(self._root, steps))
        if name not in self._anchors:
            raise UncheckableSchema(f"it refers to nothing: {_cut(reference)!r}")
        return self._anchors[name]


def _is_a(argument: object, kinds: Kinds) -> bool:
    if isinstance(argument, bool):  # True is an int of Python, but no number of JSON
        return kinds is object or bool in (kinds if isinstance(kinds, tuple) else (kinds,))
    return isinstance(argument, kinds)


def _member(value: object, name: str) -> object:
    """Return the member or item of that name; None if there is none."""
    if isinstance(value, dict):
        return value.get(name)
    if isinstance(value, list) and name.isdecimal() and int(name) < len(value):
        return value[int(name)]
    return None


def _anchors_in(value: object, steps: Steps) -> Iterator[tuple[str, object]]:
    left = [value]
    while left:
        steps.take()
        match left.pop():
            case dict(members) as schema:
                for keyword in ("$anchor", "$dynamicAnchor"):
                    if isinstance(members.get(keyword), str):
                        yield members[keyword], schema
                left += members.values()
            case list(items):
                left += items


def _cut(reference: str) -> str:
    return reference[:_MAX_REFERENCE_CHARS]
