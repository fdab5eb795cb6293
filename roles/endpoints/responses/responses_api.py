"""Describe the Responses API to the sender of requests."""

from collections.abc import Mapping
from typing import Any

import httpx2
from openai import AsyncOpenAI

from holdfast.roles.endpoints.responses.response_objects import read_response
from holdfast.roles.endpoints.responses.responses_request import responses_request
from holdfast.roles.endpoints.responses.streamed_response import StreamedResponse
from holdfast.roles.endpoints.streaming.endpoint_api import EndpointApi, OpenedReply


def _open_response(client: AsyncOpenAI, body: Mapping[str, Any]) -> OpenedReply:
    return client.responses.with_streaming_response.create(
        model=body["model"], input=[], stream=True, extra_body=dict(body)
    )


async def _whole(text: str, request: httpx2.Request) -> str:
    return (await read_response(text)).chat_completion(request)


RESPONSES = EndpointApi(
    path="/responses",
    streams=({"stream": True}, {}),
    request_of=responses_request,
    opened=_open_response,
    growing=StreamedResponse,
    whole=_whole,
)
