"""Write an answer of a tool to a row of the call ledger, and read answers from rows."""

import json
from typing import Any

from holdfast.models.calls.model_requests import Completion
from holdfast.models.calls.tool_signatures import SourcePassage, ToolAnswer

_USAGE = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens", "is_estimated")


def recorded_completion(row: Any) -> Completion:  # noqa: ANN401 - a named tuple of columns
    """Return the recorded reply of a model call."""
    return Completion(
        text=row.response or "",
        model=row.model,
        finish=row.finish or "stop",
        refusal=row.refusal,
        **{name: getattr(row, name) for name in _USAGE},
    )


def tool_answer_json(answer: ToolAnswer) -> str:
    """Return the answer as JSON; a passage equal to the whole text is stored without the text."""
    is_plain = len(answer.passages) == 1 and answer.passages[0].text == answer.text
    left_out: dict[str, Any] = {} if answer.figures else {"figures": True}
    if is_plain:
        left_out["passages"] = {0: {"text"}}
    return answer.model_dump_json(exclude=left_out)


def recorded_answer(body: str | None, tool: str) -> ToolAnswer:
    """Return the recorded answer of a call of this tool; an empty one if it was pruned."""
    if body is None:
        return ToolAnswer(text="")
    content = json.loads(body)
    text = content["text"]
    for passage in content.get("passages", ()):
        passage.setdefault("text", text)
    answer = ToolAnswer.model_validate(content)
    if "passages" in content or not text:
        return answer
    # Earlier releases left the passage of a whole answer out.
    whole = SourcePassage(address=f"tool:{tool}", text=text, end=len(text))
    return answer.model_copy(update={"passages": (whole,)})
