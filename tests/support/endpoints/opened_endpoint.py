"""Open a model at a scripted endpoint for the length of a block."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from holdfast.models.calls.model_config import ModelConfig
from holdfast.roles.endpoints.chat_endpoint import EndpointModel
from tests.support.endpoints.scripted_model import ScriptedModel


@asynccontextmanager
async def opened_endpoint(server: ScriptedModel, **config: Any) -> AsyncIterator[EndpointModel]:
    """The model at this server, with these keys of its table."""
    model = EndpointModel(base_url=server.url, config=ModelConfig(**config))
    try:
        yield model
    finally:
        await model.aclose()
