"""Build the JSON Schema of an answer from the keywords that all endpoints enforce."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

_KEPT_KEYWORDS = ("type", "enum", "description")
_REFUSED_KEYWORDS = ("prefixItems", "patternProperties", "allOf", "not")
_TYPE_KEYWORDS = ("type", "enum", "anyOf")


@lru_cache(maxsize=64)
def answer_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of `model` with every object closed and every property required.

    Definitions are inlined and what endpoints do not enforce (ranges, patterns, defaults) is left
    out: pydantic checks it when the answer is read. Docstrings are for us and do not go along;
    `Field(description=...)` does.

    One dict per model, made once: nobody may change it.

    Raises:
        TypeError: the model has a free dict, a tuple, recursion or an untyped field.
    """
    schema = model.model_json_schema()
    return _StrictSchemaBuilder(schema.get("$defs", {})).root(schema)


@lru_cache(maxsize=64)
def parameter_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of a function's arguments: as `answer_schema`, but short.

    Fields with a default may be left out, so no field may be null, and objects are not closed.

    Raises:
        TypeError: as `answer_schema`.
    """
    schema = model.model_json_schema()
    builder = _StrictSchemaBuilder(schema.get("$defs", {}), requires_all=False)
    return builder.root(schema)


class _StrictSchemaBuilder:
    """One walk over a schema; `where` is the path that an error names."""

    def __init__(self, definitions: Mapping[str, Any], *, requires_all: bool = True) -> None:
        self._definitions = definitions
        self._requires_all = requires_all
        self._open: list[str] = []

    def root(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        if "$ref" in schema:  # pydantic's form of a model that holds itself
            raise TypeError(f"{schema['$ref']!r} holds itself: endpoints cannot enforce it")
        title = str(schema.get("title", "answer"))
        return self._node(_undescribed(schema), title)

    def _node(self, node: Mapping[str, Any], where: str) -> dict[str, Any]:
        if "$ref" in node:
            return self._inlined(node, where)
        if refused := [word for word in _REFUSED_KEYWORDS if word in node]:
            raise TypeError(f"{where} needs {refused}, which endpoints do not enforce")
        strict: dict[str, Any] = {word: node[word] for word in _KEPT_KEYWORDS if word in node}
        if "const" in node:
            strict["enum"] = [node["const"]]
        if branches := self._branches(node):
            if len(branches) == 1:
                return strict | self._node(branches[0], where)
            strict["anyOf"] = [self._node(each, where) for each in branches]
        if not any(word in strict for word in _TYPE_KEYWORDS):
            raise TypeError(f"{where} has no type: endpoints cannot enforce it")
        return strict | self._inside(node, where)

    def _branches(self, node: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        branches = node.get("anyOf", node.get("oneOf")) or []
        return [each for each in branches if self._requires_all or each.get("type") != "null"]

    def _inside(self, node: Mapping[str, Any], where: str) -> dict[str, Any]:
        if node.get("type") == "array":
            return {"items": self._node(node.get("items", {}), f"{where}[]")}
        if node.get("type") != "object":
            return {}
        if not node.get("properties"):
            raise TypeError(f"{where} is a free dict: write it as a list of named values")
        properties = {
            name: self._node(each, f"{where}.{name}") for name, each in node["properties"].items()
        }
        if not self._requires_all:
            return {"properties": properties, "required": node.get("required", [])}
        return {
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }

    def _inlined(self, node: Mapping[str, Any], where: str) -> dict[str, Any]:
        name = str(node["$ref"]).removeprefix("#/$defs/")
        if name in self._open:
            raise TypeError(f"{where} holds itself: endpoints cannot enforce it")
        self._open.append(name)
        siblings = {word: node[word] for word in node if word != "$ref"}
        strict = self._node({**_undescribed(self._definitions[name]), **siblings}, where)
        self._open.pop()
        return strict


def _undescribed(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {word: schema[word] for word in schema if word != "description"}
