"""Choose the search tool: the tool that takes a single free-text parameter."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from holdfast.models.calls.tool_signatures import ToolSignature

_TEXT_NAMES = ("query", "q", "question", "search", "text", "keywords", "search_query", "term")
_NO_WORDS = ("code", "sql", "script", "expression", "table")
"""Parameters of text that words to look for are not."""
_LIMIT_NAMES = ("limit", "k", "top_k", "n", "count", "size", "max_results", "num_results", "top")
_SEARCH_WORDS = ("search", "find", "retrieve", "look up", "lookup", "query")


class SearchTool(NamedTuple):
    """A tool's name, the parameter that takes the query, and the one that says how many hits."""

    name: str
    parameter: str
    limit: str = ""
    most: int = 0
    """The highest limit that the schema allows; 0 if the schema names none."""


def search_tool(tools: Iterable[ToolSignature]) -> SearchTool | None:
    """The best search tool; None if no tool takes one free text."""
    fit = [(tool, parameter) for tool in tools if (parameter := _text_parameter(tool))]
    if not fit:
        return None
    tool, parameter = max(fit, key=lambda pair: _fitness(*pair))
    limit, most = _limit(tool)
    return SearchTool(tool.name, parameter, limit, most)


def _limit(tool: ToolSignature) -> tuple[str, int]:
    """The optional whole number that says how many hits to give, and its maximum."""
    for name, schema in tool.input_schema["properties"].items():
        is_number = isinstance(schema, Mapping) and schema.get("type") == "integer"
        if is_number and str(name).lower() in _LIMIT_NAMES:
            most = schema.get("maximum")
            return str(name), most if isinstance(most, int) else 0
    return "", 0


def _text_parameter(tool: ToolSignature) -> str | None:
    """The required free-text parameter, or an optional one with a telling name."""
    properties = tool.input_schema.get("properties")
    required = tool.input_schema.get("required") or []
    if not isinstance(properties, Mapping) or not isinstance(required, list):
        return None
    texts = [
        str(name)
        for name, schema in properties.items()
        if _is_free_text(schema) and str(name).lower() not in _NO_WORDS
    ]
    if len(required) == 1:
        return str(required[0]) if required[0] in texts else None
    optional = [name for name in texts if name.lower() in _TEXT_NAMES]
    return optional[0] if not required and optional else None


def _is_free_text(schema: object) -> bool:
    if not isinstance(schema, Mapping) or "enum" in schema or schema.get("format"):
        return False
    return schema.get("type") in ("string", ["string", "null"])


def _fitness(tool: ToolSignature, parameter: str) -> tuple[int, int, int]:
    name, told = tool.name.lower(), tool.description.lower()
    return (
        2 * (name == "corpus.search") + (parameter.lower() in _TEXT_NAMES),
        2 * any(each in name for each in _SEARCH_WORDS)
        + any(each in told for each in _SEARCH_WORDS),
        int(tool.read_only),
    )
