"""Open the models that a worker can call, each with the key of its own endpoint alone."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from holdfast.activities.runtime.activity_services import ConfiguredModel, ModelRegistry
from holdfast.configuration.known_models import KnownModels, known_models
from holdfast.configuration.price_settings import read_prices
from holdfast.models.calls.call_progress import CallProgress
from holdfast.models.calls.model_requests import Completion, ModelRequest
from holdfast.models.errors import BadConfiguration
from holdfast.models.text.secret_mask import SecretMask
from holdfast.roles.dialogue.role_definition import Model
from holdfast.roles.endpoints.chat_endpoint import EndpointModel
from holdfast.roles.extractive.extractive_model import ExtractiveModel
from holdfast.settings import Settings


@asynccontextmanager
async def open_models(settings: Settings, mask: SecretMask) -> AsyncIterator[ModelRegistry]:
    """Open all models of the installation; close their connections at the end.

    Raises:
        BadConfiguration: a table `[models.NAME]` or `[prices]` is wrong.
    """
    known = known_models(settings)
    async with AsyncExitStack() as stack:
        endpoint = None
        if settings.has_model_endpoint:
            endpoint = EndpointModel(
                base_url=settings.openai_base_url, api_key=settings.openai_api_key, mask=mask
            )
            stack.push_async_callback(endpoint.aclose)
        yield ModelRegistry(
            ExtractiveModel(),
            endpoint,
            read_prices(settings.config_file),
            {name: _configured(known, name, mask, stack) for name in known.configured},
        )


def _configured(
    known: KnownModels, name: str, mask: SecretMask, stack: AsyncExitStack
) -> ConfiguredModel:
    config = known.configured[name]
    if fault := known.fault(name):
        # Not an error yet: a model that no job uses stops no worker.
        return ConfiguredModel(_UnusableModel(fault), config)
    model = EndpointModel(
        base_url=known.url(config),
        api_key=known.key(config),
        mask=mask,
        config=config,
        table=name,
    )
    stack.push_async_callback(model.aclose)
    return ConfiguredModel(model, config)


class _UnusableModel(Model):
    """A configured model without endpoint or key."""

    def __init__(self, fault: str) -> None:
        self._fault = fault

    async def complete(
        self,
        request: ModelRequest,  # noqa: ARG002 - a `Model`
        progress: CallProgress | None = None,  # noqa: ARG002
    ) -> Completion:
        raise BadConfiguration(self._fault)
