"""Split a prompt into its parts: instructions, notice, schema, tools, data and feedback."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.evals.tokens.recorded_requests import RecordedRequest

CHARACTERS_PER_TOKEN = 4
PARTS = ("instructions", "tools", "schema", "notice", "data", "feedback")
_NOTICE = "You get the task as one JSON object."
_SCHEMA = "Answer with one JSON object that fits this JSON Schema"
_TOOL_FIELD = "tools"


def recorded_parts(request: RecordedRequest) -> Counter[str]:
    """The characters of each part of a request as it was sent."""
    system = "\n\n".join(
        str(each.get("content") or "") for each in request.messages if each["role"] == "system"
    )
    instructions, notice, schema = _system_parts(system)
    parts = Counter(instructions=len(instructions), notice=len(notice), schema=len(schema))
    if request.tools:
        parts["tools"] += len(json.dumps(request.tools, ensure_ascii=False))
    parts.update(prompt_parts(request.prompt))
    parts["feedback"] += sum(map(len, request.later_messages))
    return parts


def prompt_parts(prompt: str) -> Counter[str]:
    """The characters of the tools and of the other data in the first user message."""
    tools = _tools_of(prompt)
    return Counter(tools=tools, data=len(prompt) - tools)


def tokens(characters: int) -> int:
    """The tokens of so many characters, as all figures here count them."""
    return round(characters / CHARACTERS_PER_TOKEN)


def summed(counters: Sequence[Mapping[str, int]]) -> Counter[str]:
    """The sum of several counts."""
    total: Counter[str] = Counter()
    for each in counters:
        total.update(each)
    return total


def _system_parts(system: str) -> tuple[str, str, str]:
    """Instructions, notice and schema, of which the last two may be empty."""
    rest, mark, schema = system.partition(_SCHEMA)
    instructions, start, notice = rest.partition(_NOTICE)
    return instructions, start + notice, mark + schema


def _tools_of(prompt: str) -> int:
    try:
        task: Any = json.loads(prompt)
    except ValueError:
        return 0
    tools = task.get(_TOOL_FIELD) if isinstance(task, dict) else None
    if not tools:
        return 0
    return len(json.dumps(tools, ensure_ascii=False, separators=(",", ":")))
