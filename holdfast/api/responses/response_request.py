"""Read the body of a request for a response, and say which job it asks for.

Clients send much that Holdfast has no use for (temperature, truncation, `store`); it is ignored, as
other servers of this API do. What decides a job is read strictly.
"""

import re
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from holdfast.jobs.job_submission import JobSubmission
from holdfast.models.errors import BadInput, NotFound
from holdfast.models.jobs.follow_up import MOST_GIVEN, EarlierQuestion
from holdfast.models.responses.stored_response import ClientRequest
from holdfast.planning.strategies.strategy_presets import all_presets

ASK_FUNCTION = "ask_user"
"""A client that declares this function is asked the job's questions by calls of it."""
MODEL_PREFIX = "holdfast-"
DEFAULT_MODEL = "holdfast"
_SERVERS = (("file_search", "corpus"), ("web_search", "web"), ("code_interpreter", "python"))
"""Tool servers by the beginning of a tool's type, which may end with a date."""
_CALL_ID = re.compile(r"call_(?P<job>[\w-]+)\.(?P<question>\d{1,18})")
_MOST_ITEMS = 1_000
_UNREAD = ("input_image", "input_file", "input_audio")
"""Parts of a message whose content decides the answer, and which no job reads."""


class ResponseBody(BaseModel):
    """The body of `POST /v1/responses`."""

    model_config = ConfigDict(extra="ignore")

    model: str = Field(max_length=200, description="`holdfast`, or `holdfast-PRESET`.")
    input: str | list[dict[str, Any]] = Field(description="The question, or the conversation.")
    instructions: str | None = None
    background: bool | None = None
    stream: bool | None = None
    max_tool_calls: int | None = Field(default=None, ge=1)
    metadata: dict[str, str] | None = Field(
        default=None, max_length=16, description="`collection` names the collection to read."
    )
    previous_response_id: str | None = Field(default=None, max_length=200)
    tools: list[dict[str, Any]] | None = Field(default=None, max_length=100)
    text: dict[str, Any] | None = Field(
        default=None, description="`format` may be `text` alone: an answer is a report."
    )

    @property
    def items(self) -> list[dict[str, JsonValue]]:
        """The input as items; a plain text is one message."""
        if isinstance(self.input, str):
            return [{"type": "message", "role": "user", "content": self.input}]
        if len(self.input) > _MOST_ITEMS:
            raise BadInput(f"input has {len(self.input):,} items; the most are {_MOST_ITEMS:,}")
        return self.input

    def stored(self) -> ClientRequest:
        """What the response repeats of the request, each item of the input with an id."""
        items = [
            {
                "id": f"msg_{number}",
                **item,
                "type": item.get("type", "message"),
                **({"content": _parts(item)} if "content" in item else {}),
            }
            for number, item in enumerate(self.items)
        ]
        return ClientRequest(
            model=self.model,
            input=items,
            instructions=self.instructions,
            metadata=self.metadata or {},
            tools=self.tools or [],
            background=bool(self.background),
            max_tool_calls=self.max_tool_calls,
            previous_response_id=self.previous_response_id,
            asks=any(each.get("name") == ASK_FUNCTION for each in self.tools or []),
        )


class QuestionAnswer(BaseModel):
    """The output of a call of `ask_user`: the answer to a question of a job."""

    job_id: str
    question: int
    text: str


def answer_in(body: ResponseBody) -> QuestionAnswer | None:
    """The answer that the input ends with; None if the input ends with a message.

    Raises:
        BadInput: the call is none of Holdfast's.
    """
    last = body.items[-1] if body.items else {}
    if last.get("type") != "function_call_output":
        return None
    name = str(last.get("call_id", ""))
    call = _CALL_ID.fullmatch(name)
    if call is None:
        raise BadInput(
            f"call_id {name[:80]!r} is of no question; send it back as it came", field="input"
        )
    text = last.get("output")
    return QuestionAnswer(
        job_id=call["job"],
        question=int(call["question"]),
        text=text if isinstance(text, str) else _text_of(text),
    )


def call_id_of(job_id: str, question: int) -> str:
    """The id of the call that asks this question."""
    return f"call_{job_id}.{question}"


def submission_in(body: ResponseBody, follows: str | None) -> JobSubmission:
    """The job that the request asks for; `follows` is the job of the response before it.

    Raises:
        BadInput: the input has no question or a file, it names several collections, or it asks
            for an answer in a format of its own.
        NotFound: there is no such model.
    """
    messages = [(str(item.get("role", "")), _text_of(item.get("content"))) for item in body.items]
    if not messages or messages[-1][0] != "user":
        raise BadInput(
            "input ends with no message of the role user; its text is the question", field="input"
        )
    _refuse_what_is_not_read(body)
    settings: dict[str, JsonValue] = {}
    if body.max_tool_calls is not None:
        settings["max_tool_calls"] = body.max_tool_calls
    return JobSubmission(
        question=messages[-1][1],
        preset=preset_of(body.model),
        collection=None if follows else _collection(body),
        servers=None if follows else _servers(body),
        settings=settings,
        follows=follows,
        earlier=() if follows else tuple(_earlier(messages[:-1]))[-MOST_GIVEN:],
    )


def _refuse_what_is_not_read(body: ResponseBody) -> None:
    content = body.items[-1].get("content")
    parts = content if isinstance(content, list) else []
    kinds = [each.get("type") for each in parts if isinstance(each, dict)]
    if unread := next((kind for kind in kinds if kind in _UNREAD), None):
        raise BadInput(
            f"input: a part {unread!r} is not read; send documents to a collection, and name the "
            "collection in metadata",
            field="input",
        )
    wanted = (body.text or {}).get("format")
    kind = wanted.get("type", "text") if isinstance(wanted, dict) else "text"
    if kind != "text":
        raise BadInput(
            f"text.format: {str(kind)[:80]!r} is not written; an answer is a report in Markdown",
            field="text.format",
        )


def preset_of(model: str) -> str | None:
    """The preset that a model stands for; None: the installation's default.

    Raises:
        NotFound: there is no such model.
    """
    if model == DEFAULT_MODEL:
        return None
    name = model.removeprefix(MODEL_PREFIX)
    if name == model or name not in all_presets():
        raise NotFound(
            f"there is no model {model[:80]!r}; GET /v1/models lists the models", field="model"
        )
    return name


def _earlier(messages: list[tuple[str, str]]) -> Iterator[EarlierQuestion]:
    """Yield each question of the conversation with the answer after it."""
    for (role, text), following in zip(messages, [*messages, ("", "")][1:], strict=True):
        if role == "user" and text.strip():
            answer = following[1] if following[0] == "assistant" else ""
            yield EarlierQuestion(question=text, answer=answer)


def _collection(body: ResponseBody) -> str | None:
    names = [
        str(name)
        for tool in body.tools or []
        if tool.get("type") == "file_search"
        for name in tool.get("vector_store_ids") or []
    ]
    names += (
        [body.metadata["collection"]] if body.metadata and "collection" in body.metadata else []
    )
    if len(set(names)) > 1:
        raise BadInput(
            f"a job reads one collection, and the request names {', '.join(names)}", field="tools"
        )
    return names[0] if names else None


def _servers(body: ResponseBody) -> tuple[str, ...] | None:
    """The tool servers that the request allows; None if it names no tool of Holdfast's."""
    kinds = [str(tool.get("type", "")) for tool in body.tools or []]
    named = [server for kind, server in _SERVERS if any(each.startswith(kind) for each in kinds)]
    return tuple(named) or None


def _parts(item: dict[str, Any]) -> list[JsonValue]:
    """The content of a message as parts."""
    content = item["content"]
    if not isinstance(content, str):
        return list(content) if isinstance(content, list) else []
    kind = "output_text" if item.get("role") == "assistant" else "input_text"
    return [{"type": kind, "text": content}]


def _text_of(content: object) -> str:
    """The text of a message, whose content is a text or parts with texts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [each.get("text") for each in parts if isinstance(each, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))
