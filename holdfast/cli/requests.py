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
    servers: str | None = None
    """Their names, with commas between them."""


def checked_question(given: str) -> str:
    """The question; `-` reads it from standard input.

    Raises:
        BadInput: it is empty, too long, or not text.
    """
    question = _checked_words("question", given)
    if not question:
        raise BadInput('the question is empty; ask one, as in `holdfast run "Who built ...?"`')
    return question


def checked_guidance(given: str) -> str:
    """What a person tells the next planning; `-` reads it from standard input.

    Raises:
        BadInput: it is empty, too long, or not text.
    """
    words = _checked_words("guidance", given)
    if not words:
        raise BadInput("the guidance is empty; say what the next planning is to heed")
    return words


def checked_answer(given: str) -> str:
    """What a person answers; `-` reads it from standard input.

    Raises:
        BadInput: it is empty, too long, or not text.
    """
    words = _checked_words("answer", given)
    if not words:
        raise BadInput("the answer is empty")
    return words


def _checked_words(what: str, given: str) -> str:
    words = _read_stdin(what) if given == "-" else given
    words = words.replace("\x00", "").strip()
    if len(words) > MAX_QUESTION:
        raise BadInput(
            f"the {what} has {len(words):,} characters, the limit is {MAX_QUESTION:,}; put "
            "long material into a folder and give it with --docs"
        )
    return words


def _read_stdin(what: str) -> str:
    # One character over the limit is enough to know; the rest of a huge input is never read.
    data = sys.stdin.buffer.read(4 * MAX_QUESTION + 4)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if error.end >= len(data) and len(data) > MAX_QUESTION:
            return data.decode("utf-8-sig", "ignore")
        raise BadInput(f"the {what} on standard input is not valid UTF-8: {error}") from error


def checked_request(wish: Wish, settings: Settings) -> JobRequest:
    """The request, with everything but the documents checked.

    Raises:
        BadInput: the question, preset, model or a setting cannot be used.
    """
    question = checked_question(wish.question)
    name = wish.preset or settings.preset
    strategy = with_settings(preset(name).strategy, changes_of(wish.settings))
    model = _model(wish.model or settings.model)
    _check_endpoint(model, settings)
    return JobRequest(
        question=question,
        preset=name,
        model=model,
        strategy=strategy,
        collection=wish.collection or "",
        servers=_servers(wish.servers),
        owner=who_asks(),
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


def _servers(given: str | None) -> tuple[str, ...]:
    """The servers that the job is limited to; none where it may use all.

    Raises:
        BadInput: none is named.
    """
    if given is None:
        return ()
    names = tuple(dict.fromkeys(name.strip() for name in given.split(",") if name.strip()))
    if not names:
        raise BadInput("--servers names no server; give their names, as in --servers corpus,web")
    return names


def _model(name: str) -> str:
    if not name.strip() or any(sign.isspace() for sign in name):
        raise BadInput(f"{name!r} is no model's name; use one your endpoint lists, or {EXTRACTIVE}")
    return name


def changes_of(settings: Sequence[str]) -> dict[str, JsonValue]:
    """The settings of `--set key=value`, as they were written.

    Raises:
        BadInput: one is not of that form.
    """
    changes: dict[str, JsonValue] = {}
    for setting in settings:
        name, sign, value = setting.partition("=")
        if not sign or not name:
            raise BadInput(f"--set takes key=value, not {setting!r}")
        changes[name.strip()] = value.strip()
    return changes


def who_asks() -> str:
    """The user of this computer, or nobody where it has no name for one."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return ""
