"""From the words of a command to a checked request; a mistake leaves nothing half-written."""

import getpass
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import JsonValue

from holdfast.settings import Settings
from models.errors import BadInput
from models.jobs import EXTRACTIVE, JobRequest
from planning.presets import preset, with_settings

MAX_QUESTION = 20_000
"""Characters; a longer one is a document, and belongs into the folder given with --docs."""


@dataclass(frozen=True)
class Wish:
    """What `run` and `submit` were given."""

    question: str
    docs: Path | None = None
    collection: str | None = None
    preset: str | None = None
    model: str | None = None
    settings: Sequence[str] = field(default_factory=tuple)


def checked_question(given: str) -> str:
    """The question; `-` reads it from standard input.

    Raises:
        BadInput: it is empty, too long, or not text.
    """
    question = _read_stdin() if given == "-" else given
    question = question.replace("\x00", "").strip()
    if not question:
        raise BadInput('the question is empty; ask one, as in `holdfast run "Who built ...?"`')
    if len(question) > MAX_QUESTION:
        raise BadInput(
            f"the question has {len(question):,} characters, the limit is {MAX_QUESTION:,}; put "
            "long material into a folder and give it with --docs"
        )
    return question


def _read_stdin() -> str:
    # One character over the limit is enough to know; the rest of a huge input is never read.
    data = sys.stdin.buffer.read(4 * MAX_QUESTION + 4)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if error.end >= len(data) and len(data) > MAX_QUESTION:
            return data.decode("utf-8-sig", "ignore")
        raise BadInput(f"the question on standard input is not valid UTF-8: {error}") from error


def checked_request(wish: Wish, settings: Settings) -> JobRequest:
    """The request, with everything but the documents checked.

    Raises:
        BadInput: the question, preset, model or a setting cannot be used.
    """
    question = checked_question(wish.question)
    name = wish.preset or settings.preset
    strategy = with_settings(preset(name).strategy, _changes(wish.settings))
    model = _model(wish.model or settings.model)
    _check_endpoint(model, settings)
    return JobRequest(
        question=question,
        preset=name,
        model=model,
        strategy=strategy,
        collection=wish.collection or "",
        owner=_owner(),
    )


def _check_endpoint(model: str, settings: Settings) -> None:
    """Refuse a model that the worker started by this command could not reach.

    Workers elsewhere have an environment of their own, so nothing is said about them here.
    """
    is_ours = settings.uses_embedded_temporal
    if model != EXTRACTIVE and is_ours and not settings.has_model_endpoint:
        raise BadInput(
            f"model {model!r} needs an endpoint: set OPENAI_API_KEY, or OPENAI_BASE_URL for your "
            f"own server, or use --model {EXTRACTIVE}, which needs neither"
        )


def _model(name: str) -> str:
    if not name.strip() or any(sign.isspace() for sign in name):
        raise BadInput(f"{name!r} is no model's name; use one your endpoint lists, or {EXTRACTIVE}")
    return name


def _changes(settings: Sequence[str]) -> dict[str, JsonValue]:
    changes: dict[str, JsonValue] = {}
    for setting in settings:
        name, sign, value = setting.partition("=")
        if not sign or not name:
            raise BadInput(f"--set takes key=value, not {setting!r}")
        changes[name.strip()] = value.strip()
    return changes


def _owner() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return ""
