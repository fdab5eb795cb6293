"""Check the name of a model and that the model can be reached."""

from holdfast.models.errors import BadInput
from holdfast.models.strategies.job_strategy import EXTRACTIVE_MODEL
from holdfast.settings import Settings


def checked_model_name(name: str) -> str:
    """The name of a model.

    Raises:
        BadInput: the name is blank or has white space in it.
    """
    if not name.strip() or any(sign.isspace() for sign in name):
        raise BadInput(
            f"{name!r} is not the name of a model; use one that your endpoint lists, or "
            f"{EXTRACTIVE_MODEL}"
        )
    return name


def check_model_endpoint(model: str, settings: Settings) -> None:
    """Refuse a model of an endpoint if the settings name no endpoint.

    Raises:
        BadInput: the model is not built in, and there is no endpoint.
    """
    if model != EXTRACTIVE_MODEL and not settings.has_model_endpoint:
        raise BadInput(
            f"model {model!r} needs an endpoint: set OPENAI_API_KEY, or OPENAI_BASE_URL for your "
            f"own server, or use --model {EXTRACTIVE_MODEL}, which needs neither"
        )
