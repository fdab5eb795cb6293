"""Parse chat completions into the few fields that are read, without objects for the rest.

A hostile reply of two megabytes has 700,000 values. As Python objects they would keep the
interpreter, and with it the event loop, busy for a second; so even values that are of the wrong
type are replaced by the parser and not by our code.
"""

import re
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, Field, GetCoreSchemaHandler, TypeAdapter
from pydantic_core import CoreSchema, core_schema

from holdfast.roles.endpoints.native_functions import calls_as_text

_ESCAPES = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # a whole character
    r"|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"  # half a character (a lone surrogate)
    r"|\\.",
    re.DOTALL,
)
PROVIDER_ERROR = "error"
"""OpenRouter's finish reason of a reply whose provider failed after the status 200 was sent."""
_HALF = 6  # characters of the escape of half a character; a whole one has twelve, others two


@dataclass(frozen=True)
class _Otherwise:
    """Replace a value of the wrong type by this one."""

    value: object

    def __get_pydantic_core_schema__(
        self,
        source: Any,  # noqa: ANN401 - pydantic's signature
        handler: GetCoreSchemaHandler,
    ) -> CoreSchema:
        return core_schema.with_default_schema(
            handler(source), default=self.value, on_error="default"
        )


_Text = Annotated[str | None, _Otherwise(None)]
# Beyond the upper bound a count is nonsense, and fits into no column.
_Count = Annotated[Annotated[int, Field(gt=0, lt=2**31)], _Otherwise(0)]


class _InputDetails(BaseModel):
    cached_tokens: _Count = 0


class _OutputDetails(BaseModel):
    reasoning_tokens: _Count = 0


class _Usage(BaseModel):
    prompt_tokens: _Count = 0
    completion_tokens: _Count = 0
    prompt_tokens_details: Annotated[_InputDetails, _Otherwise(_InputDetails())] = _InputDetails()
    completion_tokens_details: Annotated[_OutputDetails, _Otherwise(_OutputDetails())] = (
        _OutputDetails()
    )


class _Function(BaseModel):
    name: str
    arguments: Annotated[str, _Otherwise("")] = ""


class _ToolCall(BaseModel):
    function: _Function


class _Part(BaseModel):
    type: _Text = None
    text: Annotated[str, _Otherwise("")] = ""


class _Message(BaseModel):
    content: Annotated[str | list[_Part] | None, _Otherwise(None)] = None
    """Text, or parts; those of the type `text` are the answer (Mistral's thinking models)."""
    refusal: _Text = None
    tool_calls: Annotated[list[_ToolCall] | None, _Otherwise(None)] = None

    @property
    def text(self) -> str:
        """What the model says, or its tool calls as `FunctionCalls` in JSON."""
        if not self.tool_calls:
            if isinstance(self.content, list):
                return "".join(part.text for part in self.content if part.type == "text")
            return self.content or ""
        return calls_as_text((c.function.name, c.function.arguments) for c in self.tool_calls)


class _Choice(BaseModel):
    message: _Message
    finish_reason: _Text = None


class ChatReply(BaseModel):
    """The fields of a chat completion that are read; a strange `usage` does not matter."""

    model: _Text = None
    choices: list[_Choice] = Field(min_length=1)
    usage: Annotated[_Usage, _Otherwise(_Usage())] = _Usage()


_REPLY = TypeAdapter(Annotated[ChatReply | None, _Otherwise(None)])


def parse_reply(body: str) -> ChatReply:
    """Return the chat completion in the body of a response.

    Raises:
        ValueError: it is none.
    """
    try:
        reply = _REPLY.validate_json(body)
    except ValueError:
        # The parser refuses half a character, which models do write.
        reply = _REPLY.validate_json(_ESCAPES.sub(_whole_character, body))
    if reply is None or reply.choices[0].finish_reason == PROVIDER_ERROR:
        raise ValueError("not a chat completion")
    return reply


def _whole_character(escape: re.Match[str]) -> str:
    return r"\ufffd" if len(escape[0]) == _HALF else escape[0]
