"""Play roles by calling an OpenAI-compatible endpoint: `/chat/completions` or `/responses`."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from openai import APIStatusError, OpenAIError
from pydantic import SecretStr

from holdfast.models.calls.call_progress import CallProgress
from holdfast.models.calls.model_config import ModelConfig
from holdfast.models.calls.model_requests import Completion, Message, ModelRequest
from holdfast.models.errors import ContextTooLong, HoldfastError, MalformedReply
from holdfast.models.text.secret_mask import SecretMask
from holdfast.planning.text.token_estimates import estimate_tokens
from holdfast.roles.endpoints.chat_replies import ChatReply, parse_reply
from holdfast.roles.endpoints.chat_request import (
    RESPONSE_FORMATS,
    chat_body,
    has_required_fields,
    messages_with_schema,
    output_limit_key,
    request_parameters,
    rungs_of,
    schema_words,
    shows_schema,
)
from holdfast.roles.endpoints.endpoint_address import address_without_secrets
from holdfast.roles.endpoints.endpoint_client import openai_client
from holdfast.roles.endpoints.endpoint_errors import (
    EndpointName,
    failed_generation,
    is_filtered,
    is_format_unsupported,
    other_limit_key,
    printable_text,
    server_text,
    translate_error,
)
from holdfast.roles.endpoints.remembered_rungs import RememberedRungs
from holdfast.roles.endpoints.responses.background_sender import BackgroundSender
from holdfast.roles.endpoints.responses.responses_api import RESPONSES
from holdfast.roles.endpoints.streaming.endpoint_api import CHAT
from holdfast.roles.endpoints.streaming.reply_sender import ReplySender

_LARGE = 100_000  # characters of a reply that a thread reads, so that the event loop goes on
_CANCEL_S = 10.0
_PER_MESSAGE = 4  # tokens that a chat template adds to each turn


class EndpointModel:
    """Play any role by one call of the endpoint: a `Model` of `role_definition`.

    Remembers per model and role how far down the ladder the endpoint made it go. Nothing is
    retried here: retries belong to Temporal.
    """

    def __init__(
        self,
        *,
        base_url: str,
        api_key: SecretStr | None = None,
        mask: SecretMask | None = None,
        timeout: timedelta | None = None,
        config: ModelConfig | None = None,
        table: str = "",
    ) -> None:
        """`mask` hides what the endpoint may repeat; by default that is its key.

        `config` is the table `[models.TABLE]`; without one, a request's model is the name at the
        endpoint.
        """
        key = api_key if api_key and api_key.get_secret_value() else None
        self._mask = mask or SecretMask([key.get_secret_value()] if key else ())
        self._config = config or ModelConfig()
        self._timeout = timeout or timedelta(seconds=self._config.timeout_s)
        self._rungs = RememberedRungs()
        self._limit_key = output_limit_key(self._config, base_url)
        self._shows_schema = shows_schema(self._config, base_url)
        self._ignoring: set[tuple[str, str]] = set()
        self._client = openai_client(base_url, key, self._timeout)
        self._background = BackgroundSender(self._client, self._timeout.total_seconds())
        self._sender = self._chosen_sender()
        self._at = _endpoint_name(base_url, self._config, table)

    def _chosen_sender(self) -> ReplySender | BackgroundSender:
        if self._config.background:
            return self._background
        api = RESPONSES if self._config.api == "responses" else CHAT
        return ReplySender(self._client, api, self._config, self._timeout.total_seconds())

    @property
    def address(self) -> str:
        """The endpoint as messages may name it."""
        return self._at.address

    async def complete(
        self, request: ModelRequest, progress: CallProgress | None = None
    ) -> Completion:
        """The reply to one request; goes down the ladder where the endpoint refuses a rung.

        Raises:
            ContextTooLong: the request exceeds the configured context, so it was not sent.
        """
        messages = messages_with_schema(request)
        self._check_context(request, messages)
        progress = progress or CallProgress()
        outcome = await self._try_response_formats(request, messages, progress)
        return await self._completion_of(outcome, request, messages)

    async def complete_at(
        self, rung: str, request: ModelRequest, progress: CallProgress
    ) -> Completion:
        """The reply to the request asked in one way, without the schema in its messages.

        Raises:
            HoldfastError: as `complete`, also if the endpoint refuses this way of asking.
        """
        outcome = await self._post(request, request.messages, rung, progress)
        return await self._completion_of(outcome, request, request.messages)

    async def _completion_of(
        self,
        outcome: str | OpenAIError | TimeoutError,
        request: ModelRequest,
        messages: Sequence[Message],
    ) -> Completion:
        """The reply in a body.

        Raises:
            HoldfastError: there is no reply, or the endpoint answered with an error.
        """
        if isinstance(outcome, str):
            if len(outcome) <= _LARGE:
                return self._read(outcome, request, messages)
            return await asyncio.to_thread(self._read, outcome, request, messages)
        if is_filtered(outcome):
            return self._filtered(outcome, request)
        if written := failed_generation(outcome):
            return self._estimated(written, request, messages)
        # Raised outside `except`: a cause would take the server's text, and perhaps the key in
        # it, into Temporal's history.
        raise self._translated(outcome, request.model)

    def _translated(self, error: OpenAIError | TimeoutError, model: str) -> HoldfastError:
        return translate_error(
            error, at=self._at, model=model, mask=self._mask, now=datetime.now(UTC)
        )

    async def cancel_response(self, response_id: str) -> None:
        """Cancel a response in the background that nobody needs any more.

        Raises:
            HoldfastError: the endpoint refuses, or does not answer in time.
        """
        try:
            async with asyncio.timeout(_CANCEL_S):
                await self._background.cancel(response_id)
        except (OpenAIError, TimeoutError) as error:
            outcome = error
        else:
            return
        raise self._translated(outcome, "")

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._client.close()

    def _check_context(self, request: ModelRequest, messages: Sequence[Message]) -> None:
        context = self._config.context_tokens
        if context is None:
            return
        asked = _input_tokens(messages)
        kept = self._config.max_output_tokens or 0
        if asked + kept > context:
            output = f" and up to {kept:,} of output" if kept else ""
            raise ContextTooLong(
                f"model {request.model!r} has a context of {context:,} tokens, and the request of "
                f"the {request.role} has about {asked:,}{output}; it was not sent. Raise "
                "`context_tokens` if the model takes more, or give the role another model"
            )

    async def _try_response_formats(
        self, request: ModelRequest, messages: Sequence[Message], progress: CallProgress
    ) -> str | OpenAIError | TimeoutError:
        kind = (request.model, request.role, bool(request.functions))
        rungs = rungs_of(request)
        first = self._rungs.first(kind)
        refused = 0
        for rung in range(first, len(rungs)):
            outcome = await self._post(request, messages, rungs[rung], progress)
            written = failed_generation(outcome)
            is_asked = request.answer_schema or request.functions
            if not is_asked or not (written == "" or is_format_unsupported(outcome)):
                if refused:
                    # Not before: an error that quotes our text may only look like such a refusal.
                    self._rungs.remember(kind, rung)
                break
            # A reply that failed once under a schema says nothing about the next one.
            refused += written is None
        return outcome

    async def _post(
        self,
        request: ModelRequest,
        messages: Sequence[Message],
        rung: str,
        progress: CallProgress,
    ) -> str | OpenAIError | TimeoutError:
        """The body of the answer, whatever it is, or why there is none."""
        outcome = await self._sender.send(self._body(request, messages, rung), progress)
        has_limit = self._config.max_output_tokens and not self._config.output_limit_key
        if has_limit and (key := other_limit_key(outcome, self._limit_key)):
            self._limit_key = key
            return await self._sender.send(self._body(request, messages, rung), progress)
        return outcome

    def _body(
        self, request: ModelRequest, messages: Sequence[Message], rung: str
    ) -> dict[str, Any]:
        parameters = request_parameters(self._config, self._limit_key)
        name = self._config.id or request.model
        is_told = self._is_told_the_schema(request, rung)
        return chat_body(request, request.messages if is_told else messages, rung, parameters, name)

    def _is_told_the_schema(self, request: ModelRequest, rung: str) -> bool:
        """True if the model learns the answer's type from the request, and has kept to it."""
        is_kept = (request.model, request.role) not in self._ignoring
        has_schema = rung == RESPONSE_FORMATS[0] and not request.functions
        return self._shows_schema and has_schema and is_kept

    def _read(self, body: str, request: ModelRequest, messages: Sequence[Message]) -> Completion:
        try:
            reply = parse_reply(body)
        except ValueError:
            came = printable_text(body, self._mask) or "nothing"
            raise MalformedReply(
                f"model {request.model!r} at {self.address} did not answer with a chat completion "
                f"but with: {came}; check {self._at.url}, which often ends in /v1"
            ) from None  # for the reason in `complete`
        completion = _completion(reply, request, messages)
        if self._shows_schema and not has_required_fields(completion.text, request.answer_schema):
            self._ignoring.add((request.model, request.role))
        return _masked(completion, self._mask.of_content(schema_words(request)))

    def _estimated(
        self, text: str, request: ModelRequest, messages: Sequence[Message]
    ) -> Completion:
        """The reply that the endpoint sent as an error, which has no usage."""
        completion = Completion(
            text=text,
            model=request.model,
            input_tokens=_input_tokens(messages),
            output_tokens=estimate_tokens(text),
            is_estimated=True,
        )
        return _masked(completion, self._mask.of_content(schema_words(request)))

    def _filtered(self, error: APIStatusError, request: ModelRequest) -> Completion:
        return Completion(
            text="",
            model=request.model,
            finish="content_filter",
            is_estimated=True,
            refusal=server_text(error, mask=self._mask),
        )


def _endpoint_name(base_url: str, config: ModelConfig, table: str) -> EndpointName:
    address = address_without_secrets(base_url)
    if not table:
        return EndpointName(address)
    key = config.key_variable or f"`key_env` in [models.{table}]"
    url = f"`url` in [models.{table}]" if config.url else "OPENAI_BASE_URL"
    return EndpointName(address, key=key, url=url)


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
        asked = _input_tokens(messages)
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


def _input_tokens(messages: Sequence[Message]) -> int:
    """Estimate the tokens of the messages."""
    return sum(estimate_tokens(each.content) + _PER_MESSAGE for each in messages)
