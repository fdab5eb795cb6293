"""Check the names of a job's models, and that the installation can call them."""

from collections.abc import Iterable

from holdfast.configuration.known_models import known_models
from holdfast.configuration.role_settings import read_role_tables
from holdfast.models.errors import BadInput
from holdfast.models.strategies.job_strategy import EXTRACTIVE_MODEL, Strategy
from holdfast.settings import Settings


def checked_model_name(name: str) -> str:
    """The name of a model.

    Raises:
        BadInput: the name is blank or has white space in it.
    """
    if not name.strip() or any(sign.isspace() for sign in name):
        raise BadInput(
            f"{name!r} is not the name of a model; use one that `holdfast models list` shows, one "
            f"that your endpoint lists, or {EXTRACTIVE_MODEL}"
        )
    return name


def check_models(names: Iterable[str], settings: Settings) -> None:
    """Refuse models that this installation cannot call.

    Raises:
        BadInput: a model has no endpoint or lacks its key.
        BadConfiguration: a table `[models.NAME]` is wrong.
    """
    known_models(settings).check(names)


def with_role_models(strategy: Strategy, preset: str, settings: Settings) -> Strategy:
    """Return the strategy with the models that `holdfast.toml` gives to roles.

    The job's own `role_models` win over those of the preset, and these over the installation's.

    Raises:
        BadConfiguration: a table `[roles]` or `[presets.NAME.roles]` is wrong.
    """
    tables = read_role_tables(settings.config_file)
    roles = {**tables.of_preset(preset), **strategy.role_models}
    return strategy.model_copy(update={"role_models": roles})
