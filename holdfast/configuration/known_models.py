"""Say which models an installation can call, with their endpoints and keys."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pydantic import SecretStr

from holdfast.configuration.model_settings import read_models
from holdfast.configuration.role_settings import read_role_tables
from holdfast.models.calls.model_config import OPENAI_KEY_VARIABLE, ModelConfig
from holdfast.models.errors import BadConfiguration, BadInput
from holdfast.models.strategies.job_strategy import EXTRACTIVE_MODEL
from holdfast.planning.strategies.agent_catalogue import AgentCatalogue
from holdfast.settings import Settings


@dataclass(frozen=True)
class KnownModels:
    """The models that this environment and `holdfast.toml` configure."""

    settings: Settings
    configured: Mapping[str, ModelConfig]

    def url(self, config: ModelConfig) -> str:
        """Return the endpoint's address."""
        return config.url or self.settings.openai_base_url

    def key(self, config: ModelConfig) -> SecretStr | None:
        """Return the key that goes to the endpoint; None if it gets none or the key is not set."""
        variable = config.key_variable
        if variable == OPENAI_KEY_VARIABLE:
            return self.settings.openai_api_key
        secret = os.environ.get(variable, "").strip() if variable else ""
        return SecretStr(secret) if secret else None

    def fault(self, name: str) -> str:
        """Return why a job cannot use the model, and what to do; empty if it can."""
        if name == EXTRACTIVE_MODEL:
            return ""
        config = self.configured.get(name)
        if config is None:
            return "" if self.settings.has_model_endpoint else _no_endpoint(name)
        if config.url is None and not self.settings.has_model_endpoint:
            return (
                f"model {name!r} needs an endpoint: set `url` in [models.{name}], or OPENAI_API_KEY"
                " or OPENAI_BASE_URL"
            )
        if config.key_env is not None and self.key(config) is None:
            return (
                f"model {name!r} needs its key: set the variable {config.key_env} where the worker "
                f"runs, or correct `key_env` in [models.{name}]"
            )
        return ""

    def check(self, names: Iterable[str]) -> None:
        """Refuse models that no job could use.

        Raises:
            BadInput: names the first such model and what to do.
        """
        for name in names:
            if fault := self.fault(name):
                raise BadInput(fault)


def known_models(settings: Settings) -> KnownModels:
    """Return the models of an installation.

    Raises:
        BadConfiguration: a table `[models.NAME]` is wrong.
    """
    return KnownModels(settings, read_models(settings.config_file))


def check_agent_models(agents: AgentCatalogue, settings: Settings) -> None:
    """Refuse agents with a model of their own that cannot be called.

    Raises:
        BadConfiguration: names the agent and what to do.
    """
    models = known_models(settings)
    for agent in agents.profiles.values():
        if agent.model and (fault := models.fault(agent.model)):
            raise BadConfiguration(f"{settings.config_file}: agents.{agent.name}: {fault}")


def check_role_models(settings: Settings) -> None:
    """Refuse roles in `holdfast.toml` whose models no job could use.

    Raises:
        BadConfiguration: a table is wrong, or names a model without endpoint or key.
    """
    models = known_models(settings)
    for name in sorted(read_role_tables(settings.config_file).models):
        if fault := models.fault(name):
            raise BadConfiguration(f"{settings.config_file}: a role's {fault}")


def _no_endpoint(name: str) -> str:
    return (
        f"model {name!r} needs an endpoint: write [models.{name}] with its `url` in holdfast.toml, "
        "or set OPENAI_API_KEY, or OPENAI_BASE_URL for your own server, or use "
        f"the model {EXTRACTIVE_MODEL}, which needs none of them"
    )
