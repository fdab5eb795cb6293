"""Have a response made in the background, and wait for it; after a crash, only wait for it."""

import asyncio
from collections.abc import Mapping
from typing import Any

import httpx2
from openai import AsyncOpenAI, NotFoundError, OpenAIError

from holdfast.models.calls.call_progress import CallProgress
from holdfast.roles.endpoints.reply_errors import ReplyRefused
from holdfast.roles.endpoints.responses.response_objects import ResponseObject, read_response
from holdfast.roles.endpoints.responses.responses_request import responses_request

_POLL_S = (0.5, 5.0)
"""The first and the longest pause between two questions if a response is there."""
_LONGER = 1.5


class BackgroundSender:
    """Sends requests to `/responses` with `background`; a response outlives whoever asked for it.

    The id of a response is recorded before anything is waited for. Only a crash between the
    endpoint's answer to the request and that record loses a response.
    """

    def __init__(self, client: AsyncOpenAI, timeout_s: float) -> None:
        self._client = client
        self._timeout_s = timeout_s

    async def send(
        self, body: Mapping[str, Any], progress: CallProgress
    ) -> str | OpenAIError | TimeoutError:
        """The reply to a chat completion's request, as its body, or why there is none yet.

        A timeout or a broken connection leaves the response at work: the next call finds it.
        """
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._answer(body, progress)
        except (OpenAIError, TimeoutError) as error:
            return error

    async def cancel(self, response_id: str) -> None:
        """Cancel a response that nobody needs any more.

        Raises:
            OpenAIError: the endpoint refuses, or does not answer.
        """
        await self._client.post(f"/responses/{response_id}/cancel", cast_to=httpx2.Response)

    async def _answer(self, body: Mapping[str, Any], progress: CallProgress) -> str:
        if progress.response_id is not None:
            try:
                return await self._awaited(progress.response_id, progress)
            except NotFoundError:  # it expired, or was deleted
                await progress.drop_response(is_sent_again=True)
        request = responses_request({**body, "background": True})
        sent = await self._client.post("/responses", cast_to=httpx2.Response, body=request)
        response = await read_response(sent.text)
        if not response.is_open:  # the endpoint does not know `background`, or was quick
            return response.chat_completion(sent.request)
        if not response.id:
            raise ReplyRefused("it began a response in the background and gave it no usable id")
        await progress.keep_response(response.id)
        try:
            return await self._awaited(response.id, progress)
        except NotFoundError:
            await progress.drop_response()
            raise ReplyRefused(
                f"it began the response {response.id} in the background and does not know it: set "
                "`background = false`"
            ) from None

    async def _awaited(self, response_id: str, progress: CallProgress) -> str:
        pause_s, longest_s = _POLL_S
        while True:
            answer = await self._client.get(f"/responses/{response_id}", cast_to=httpx2.Response)
            response = await read_response(answer.text)
            if not response.is_open:
                return await _ended(response, answer.request, progress)
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * _LONGER, longest_s)


async def _ended(response: ResponseObject, request: httpx2.Request, progress: CallProgress) -> str:
    try:
        return response.chat_completion(request)
    except OpenAIError:
        await progress.drop_response()  # the next call asks again
        raise
