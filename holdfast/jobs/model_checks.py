"""Check the names of a job's models, and that the installation can call them."""

from collections.abc import Iterable

from holdfast.configuration.known_models import known_models
from holdfast.configuration.role_settings import read_role_tables
from holdfast.models.error_fields import error_field
from holdfast.models.errors import BadInput
from holdfast.models.strategies.job_strategy import (
    EXTRACTIVE_MODEL,
    LEAST_TRANSCRIPT_TOKENS,
    Strategy,
)
from holdfast.models.wire.role_names import RoleName
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


def check_job_models(model: str, strategy: Strategy, settings: Settings) -> None:
    """Refuse the job's model, with its field, and models of its settings that cannot be called.

    Raises:
        BadInput: a model has no endpoint or lacks its key.
        BadConfiguration: a table `[models.NAME]` is wrong.
    """
    with error_field("model"):
        check_models([model], settings)
    check_models(sorted(strategy.named_models()), settings)


def with_role_models(strategy: Strategy, preset: str, settings: Settings) -> Strategy:
    """Return the strategy with the models that `holdfast.toml` gives to roles.

    The job's own `role_models` win over those of the preset, and these over the installation's.

    Raises:
        BadConfiguration: a table `[roles]` or `[presets.NAME.roles]` is wrong.
    """
    tables = read_role_tables(settings.config_file)
    roles = {**tables.of_preset(preset), **strategy.role_models}
    return strategy.model_copy(update={"role_models": roles})


def transcript_note(strategy: Strategy, model: str, settings: Settings, *, is_chosen: bool) -> str:
    """Return a note if loops get a shorter transcript than the setting, for the model's context.

    `is_chosen` is true if the user named the setting for this job.

    Raises:
        BadInput: the model has no room for a loop, or for the transcript that was chosen.
    """
    name = strategy.model_of_role(RoleName.LOOP_AGENT, model)
    config = known_models(settings).configured.get(name)
    room = config.transcript_room if config else None
    asked = strategy.transcript_tokens
    if not strategy.has_loops or config is None or room is None or asked <= room:
        return ""
    context = f"model {name!r} has a context of {config.context_tokens:,} tokens"
    if room < LEAST_TRANSCRIPT_TOKENS:
        raise BadInput(
            f"{context}, which leaves {room:,} for the transcript of a cited loop; it needs "
            f"{LEAST_TRANSCRIPT_TOKENS:,}. Correct `context_tokens` or `max_output_tokens` in "
            f"[models.{name}], give the role `loop_agent` another model, or take a preset without "
            "loops"
        )
    if is_chosen:
        raise BadInput(
            f"transcript_tokens is {asked:,}, and {context}: {room:,} fit with the reply and "
            f"the functions of a loop. Set transcript_tokens={room}, or leave it out"
        )
    return f"{context}, so loops keep {room:,} tokens of their transcript instead of {asked:,}"
