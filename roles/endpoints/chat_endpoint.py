"""Play roles by calling `/chat/completions` of an OpenAI-compatible endpoint."""

import asyncio
import json
import os
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import cast
from urllib.parse import urlsplit, urlunsplit

from openai import APIStatusError, AsyncOpenAI, Omit, OpenAIError, Timeout, omit
from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolUnionParam
from openai.types.chat.completion_create_params import ResponseFormat
from pydantic import SecretStr

from holdfast.models.calls.model_requests import Completion, Message, ModelRequest
from holdfast.models.errors import MalformedReply
from holdfast.models.text.secret_mask import SecretMask
from holdfast.planning.text.token_estimates import estimate_tokens
from holdfast.roles.endpoints.bounded_replies import bounded_http_client
from holdfast.roles.endpoints.chat_replies import ChatReply, parse_reply
from holdfast.roles.endpoints.endpoint_errors import (
    is_filtered,
    is_format_unsupported,
    printable_text,
    server_text,
    translate_error,
)
from holdfast.roles.endpoints.native_functions import (
    function_lines,
    functions_schema,
    native_messages,
    tools_parameter,
)

RESPONSE_FORMATS = ("json_schema", "json_object", "text")
"""Ways to ask for JSON, strictest first; what an endpoint refuses is not tried again."""
NATIVE_FUNCTIONS = "tools"
"""The first way to offer functions: native tool calling; the others follow."""

_LARGE = 100_000  # characters of a reply that a thread reads, so that the event loop goes on
_PER_MESSAGE = 4  # tokens that a chat template adds to each turn


class EndpointModel:
    """Play any role by one call of `/chat/completions`: a `Model` of `role_definition`.

    Remembers per model how far down the ladder the endpoint made it go. Nothing is retried here:
    retries belong to Temporal.
    """

    def __init__(
        self,
        *,
        base_url: str,
        api_key: SecretStr | None = None,
        mask: SecretMask | None = None,
        timeout: timedelta = timedelta(minutes=10),
    ) -> None:
        """`mask` hides what the endpoint may repeat; by default that is its key."""
        key = api_key if api_key and api_key.get_secret_value() else None
        self._mask = mask or SecretMask([key.get_secret_value()] if key else ())
        self._timeout_per_call = timeout
        self._format_index_by_model: dict[tuple[str, bool], int] = {}
        self._client = openai_client(base_url, key, timeout)
        self.address = address_without_secrets(base_url)

    async def complete(self, request: ModelRequest) -> Completion:
        """The reply to one request; goes down the ladder where the endpoint refuses a rung."""
        messages = _with_schema(request)
        outcome = await self._try_response_formats(request, messages)
        if isinstance(outcome, str):
            if len(outcome) <= _LARGE:
                return self._read(outcome, request, messages)
            return await asyncio.to_thread(self._read, outcome, request, messages)
        if is_filtered(outcome):
            return self._filtered(outcome, request)
        # Raised outside `except`: a cause would take the server's text, and perhaps the key in
        # it, into Temporal's history.
        raise translate_error(
            outcome,
            address=self.address,
            model=request.model,
            mask=self._mask,
            now=datetime.now(UTC),
        )

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._client.close()

    async def _try_response_formats(
        self, request: ModelRequest, messages: Sequence[Message]
    ) -> str | OpenAIError | TimeoutError:
        asked = (request.model, bool(request.functions))
        rungs = (NATIVE_FUNCTIONS, *RESPONSE_FORMATS) if request.functions else RESPONSE_FORMATS
        for rung in range(self._format_index_by_model.get(asked, 0), len(rungs)):
            outcome = await self._post(request, messages, rungs[rung])
            is_asked = request.answer_schema or request.functions
            if not (is_asked and is_format_unsupported(outcome)):
                # Not before: an error that quotes our text may only look like such a refusal.
                # max: another call may have gone further meanwhile.
                self._format_index_by_model[asked] = max(
                    self._format_index_by_model.get(asked, 0), rung
                )
                break
        return outcome

    async def _post(
        self, request: ModelRequest, messages: Sequence[Message], rung: str
    ) -> str | OpenAIError | TimeoutError:
        """The body of the answer, whatever it is, or why there is none."""
        is_native = rung == NATIVE_FUNCTIONS
        turns = (
            native_messages(request.messages)
            if is_native
            else [message.model_dump() for message in messages]
        )
        try:
            # The client's own timeout is per read: a server that trickles would hold us forever.
            async with asyncio.timeout(self._timeout_per_call.total_seconds()):
                reply = await self._client.chat.completions.with_raw_response.create(
                    model=request.model,
                    # our messages are of this shape; the client's union cannot be told so
                    messages=cast("list[ChatCompletionMessageParam]", turns),
                    response_format=_response_format(request, rung),
                    tools=_tools(request) if is_native else omit,
                    tool_choice="required" if is_native else omit,
                )
                return reply.text
        except (OpenAIError, TimeoutError) as error:
            return error

    def _read(self, body: str, request: ModelRequest, messages: Sequence[Message]) -> Completion:
        try:
            reply = parse_reply(body)
        except ValueError:
            came = printable_text(body, self._mask) or "nothing"
            raise MalformedReply(
                f"model {request.model!r} at {self.address} did not answer with a chat completion "
                f"but with: {came}; check OPENAI_BASE_URL, which often ends in /v1"
            ) from None  # for the reason in `complete`
        completion = _completion(reply, request, messages)
        return _masked(completion, self._mask.outside(_schema_words(request)))

    def _filtered(self, error: APIStatusError, request: ModelRequest) -> Completion:
        return Completion(
            text="",
            model=request.model,
            finish="content_filter",
            is_estimated=True,
            refusal=server_text(error, mask=self._mask),
        )


def _masked(completion: Completion, mask: SecretMask) -> Completion:
    """The completion without secrets; the names of the answer's schema are not changed."""
    texts = {name: mask.text(getattr(completion, name)) for name in ("text", "model", "finish")}
    refusal = completion.refusal and mask.text(completion.refusal)
    return completion.model_copy(update=texts | {"refusal": refusal})


def _completion(reply: ChatReply, request: ModelRequest, messages: Sequence[Message]) -> Completion:
    choice, usage = reply.choices[0], reply.usage
    text = choice.message.text
    asked, told = usage.prompt_tokens, usage.completion_tokens
    is_estimated = not asked or bool(text and not told)
    if is_estimated:
        asked = sum(estimate_tokens(each.content) + _PER_MESSAGE for each in messages)
        told = estimate_tokens(text)
    return Completion(
        text=text,
        model=reply.model or request.model,
        finish=choice.finish_reason or "stop",
        refusal=choice.message.refusal or None,
        input_tokens=asked,
        output_tokens=told,
        cached_tokens=usage.prompt_tokens_details.cached_tokens,
        reasoning_tokens=usage.completion_tokens_details.reasoning_tokens,
        is_estimated=is_estimated,
    )


def _with_schema(request: ModelRequest) -> tuple[Message, ...]:
    """The messages with the schema in the system turn.

    At every rung, since some servers take a schema and then do not enforce it; and only here,
    since it is not part of the work that the request's hash names.
    """
    schema = functions_schema(request) if request.functions else request.answer_schema
    if not schema:
        return request.messages
    text = json.dumps(schema, separators=(",", ":"), ensure_ascii=False)
    line = f"Answer with one JSON object that fits this JSON Schema, and nothing else:\n{text}"
    if request.functions:
        line = f"{function_lines(request.functions)}\n{line}"
    first, *rest = request.messages or (Message(role="system", content=""),)
    if first.role != "system":
        return (Message(role="system", content=line), *request.messages)
    return (Message(role="system", content=f"{first.content}\n\n{line}".strip()), *rest)


def _schema_words(request: ModelRequest) -> str:
    """The names that a reply has to repeat as they are."""
    offered = [each.model_dump(mode="json") for each in request.functions]
    return json.dumps([dict(request.answer_schema), offered])


def _tools(request: ModelRequest) -> list[ChatCompletionToolUnionParam]:
    return cast("list[ChatCompletionToolUnionParam]", tools_parameter(request.functions))


def _response_format(request: ModelRequest, rung: str) -> ResponseFormat | Omit:
    schema = functions_schema(request) if request.functions else dict(request.answer_schema)
    if rung in ("text", NATIVE_FUNCTIONS) or not schema:
        return omit
    if rung == "json_object":
        return {"type": "json_object"}
    name = re.sub(r"[^A-Za-z0-9_-]", "_", request.role)[:64] or "answer"
    return {
        "type": "json_schema",
        "json_schema": {"name": name, "strict": True, "schema": schema},
    }


def openai_client(base_url: str, key: SecretStr | None, timeout: timedelta) -> AsyncOpenAI:
    """A client that sends only this key and does not retry."""
    # A key that is None would be read from OPENAI_API_KEY, and sent to whatever base_url names.
    secret = key.get_secret_value() if key else "none"
    return AsyncOpenAI(
        base_url=base_url,
        api_key=secret,
        max_retries=0,
        timeout=Timeout(timeout.total_seconds(), connect=5),
        http_client=bounded_http_client(),
        default_headers=cast("dict[str, str]", _headers(secret)),  # `omit` is allowed, not typed
    )


def _headers(secret: str) -> dict[str, str | Omit]:
    """Headers that undo those which the client adds from the environment."""
    ours = {
        "authorization": f"Bearer {secret}",
        "content-type": "application/json",
        "accept": "application/json",
        "accept-encoding": "gzip",
    }
    lines = os.environ.get("OPENAI_CUSTOM_HEADERS", "").split("\n")
    names = [line.partition(":")[0].strip() for line in lines if ":" in line]
    names += ["OpenAI-Organization", "OpenAI-Project"]
    return {name: ours.get(name.lower(), omit) for name in names}


def address_without_secrets(base_url: str) -> str:
    """The endpoint as messages may name it: without a password or a key in the query."""
    parts = urlsplit(base_url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
