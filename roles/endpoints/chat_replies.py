"""Parse chat completions into the few fields that are read, without objects for the rest.

A hostile reply of two megabytes has 700,000 values. As Python objects they would keep the
interpreter, and with it the event loop, busy for a second; so even values that are of the wrong
type are replaced by the parser and not by our code.
"""

import re
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, Field, GetCoreSchemaHandler, TypeAdapter
from pydantic_core import CoreSchema, core_schema

from holdfast.roles.endpoints.native_functions import calls_as_text

T = TypeVar("T")

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
class Otherwise:
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


TextOrNone = Annotated[str | None, Otherwise(None)]
# Beyond the upper bound a count is nonsense, and fits into no column.
Count = Annotated[Annotated[int, Field(gt=0, lt=2**31)], Otherwise(0)]


class InputDetails(BaseModel):
    """What is known of the input tokens."""

    cached_tokens: Count = 0


class OutputDetails(BaseModel):
    """What is known of the output tokens."""

    reasoning_tokens: Count = 0


class Usage(BaseModel):
    """The tokens that the endpoint counted; 0 where it says nothing."""

    prompt_tokens: Count = 0
    completion_tokens: Count = 0
    prompt_tokens_details: Annotated[InputDetails, Otherwise(InputDetails())] = InputDetails()
    completion_tokens_details: Annotated[OutputDetails, Otherwise(OutputDetails())] = (
        OutputDetails()
    )


class _Function(BaseModel):
    name: str
    arguments: Annotated[str, Otherwise("")] = ""


class _ToolCall(BaseModel):
    function: _Function


class ContentPart(BaseModel):
    """A part of a message; those of the type `text` are the answer (Mistral's thinking models)."""

    type: TextOrNone = None
    text: Annotated[str, Otherwise("")] = ""


def text_of(content: str | list[ContentPart] | None) -> str:
    """Return the answer in a message's content."""
    if isinstance(content, list):
        return "".join(part.text for part in content if part.type == "text")
    return content or ""


class _Message(BaseModel):
    content: Annotated[str | list[ContentPart] | None, Otherwise(None)] = None
    refusal: TextOrNone = None
    tool_calls: Annotated[list[_ToolCall] | None, Otherwise(None)] = None

    @property
    def text(self) -> str:
        """What the model says, or its tool calls as `FunctionCalls` in JSON."""
        if not self.tool_calls:
            return text_of(self.content)
        return calls_as_text((c.function.name, c.function.arguments) for c in self.tool_calls)


class _Choice(BaseModel):
    message: _Message
    finish_reason: TextOrNone = None


class ChatReply(BaseModel):
    """The fields of a chat completion that are read; a strange `usage` does not matter."""

    model: TextOrNone = None
    choices: list[_Choice] = Field(min_length=1)
    usage: Annotated[Usage, Otherwise(Usage())] = Usage()


_REPLY = TypeAdapter(Annotated[ChatReply | None, Otherwise(None)])


def parse_reply(body: str) -> ChatReply:
    """Return the chat completion in the body of a response.

    Raises:
        ValueError: it is none.
    """
    reply = parse_fields(_REPLY, body)
    if reply is None or reply.choices[0].finish_reason == PROVIDER_ERROR:
        raise ValueError("not a chat completion")
    return reply


def parse_fields(fields: TypeAdapter[T], text: str) -> T:
    """Return the fields in a JSON text, in which models may have written half a character.

    Raises:
        ValueError: the text is no JSON.
    """
    try:
        return fields.validate_json(text)
    except ValueError:
        return fields.validate_json(_ESCAPES.sub(_whole_character, text))


def _whole_character(escape: re.Match[str]) -> str:
    return r"\ufffd" if len(escape[0]) == _HALF else escape[0]
