"""Check the options of `run` and `submit` and build the job request."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from holdfast.cli.options.command_settings import load_command_settings
from holdfast.cli.options.current_user import current_user
from holdfast.cli.options.model_options import (
    check_models,
    checked_model_name,
    transcript_note,
    with_role_models,
)
from holdfast.cli.options.setting_options import parse_setting_changes
from holdfast.cli.options.text_options import checked_question
from holdfast.models.errors import BadInput
from holdfast.models.jobs.job_record import JobRequest
from holdfast.planning.strategies.strategy_presets import preset, with_settings
from holdfast.settings import Settings

_FOLLOWING_PRESET = "loop"


@dataclass(frozen=True)
class RunOptions:
    """The options of `run` and `submit`, as the user wrote them."""

    question: str
    docs: Path | None = None
    collection: str | None = None
    preset: str | None = None
    model: str | None = None
    settings: Sequence[str] = field(default_factory=tuple)
    servers: str | None = None
    """Names of tool servers, with commas between them."""
    follows: str | None = None
    """The job that the question follows."""


@dataclass(frozen=True)
class CheckedRun:
    """A job request that can be submitted once its documents have been read."""

    settings: Settings
    request: JobRequest
    docs: Path | None
    """The documents to read into the request's collection, or into one named after the path."""
    follows: str = ""
    """The job that the question follows; empty: the question stands alone."""
    note: str = ""
    """What the user should know of the settings; empty: nothing."""


def check_run(options: RunOptions) -> CheckedRun:
    """The request, checked as far as that is possible without a service.

    Raises:
        BadInput: the question, the documents, the preset, the model or a setting cannot be used.
        BadConfiguration: an environment variable cannot be used.
    """
    _check_follows(options)
    settings = load_command_settings()
    question = checked_question(options.question)
    name = options.preset or _default_preset(settings, follows=options.follows is not None)
    changes = parse_setting_changes(options.settings)
    strategy = with_settings(preset(name).strategy, changes)
    model = checked_model_name(options.model or settings.model)
    if options.model is None:
        # A model that is named for one job plays all its roles.
        strategy = with_role_models(strategy, name, settings)
    note = ""
    if settings.uses_embedded_temporal:
        # Workers elsewhere have their own environment, which this command cannot see.
        check_models([model, *sorted(strategy.named_models())], settings)
        is_chosen = "transcript_tokens" in changes
        note = transcript_note(strategy, model, settings, is_chosen=is_chosen)
    if options.docs is not None:
        check_docs(options.docs)
    request = JobRequest(
        question=question,
        preset=name,
        model=model,
        strategy=strategy,
        collection=options.collection or "",
        servers=_server_names(options.servers),
        owner=current_user(),
    )
    return CheckedRun(settings, request, options.docs, options.follows or "", note)


def _default_preset(settings: Settings, *, follows: bool) -> str:
    """The preset of the settings; `loop` for a follow-up if that preset cannot follow a job."""
    can_follow = preset(settings.preset).strategy.begins_as_loop
    return _FOLLOWING_PRESET if follows and not can_follow else settings.preset


def _check_follows(options: RunOptions) -> None:
    """Refuse other documents and servers than those of the job that the question follows.

    Raises:
        BadInput: the options name some, or no job.
    """
    if options.follows is None:
        return
    if not options.follows.strip():
        raise BadInput("--follows names no job; `holdfast list` lists the jobs")
    given = {
        "--docs": options.docs,
        "--collection": options.collection,
        "--servers": options.servers,
    }
    if named := [name for name, value in given.items() if value is not None]:
        raise BadInput(
            f"{' and '.join(named)} cannot be used with --follows: the new job reads what "
            "the job before it read"
        )


def check_docs(path: Path) -> None:
    """Refuse documents that do not exist.

    Raises:
        BadInput: there is no such folder or file.
    """
    if not path.expanduser().exists():
        raise BadInput(f"--docs {str(path)!r} does not exist; give a folder or a document")


def _server_names(names: str | None) -> tuple[str, ...]:
    """The tool servers that the job may use; empty if it may use all.

    Raises:
        BadInput: the option is there, but names no server.
    """
    if names is None:
        return ()
    servers = tuple(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    if not servers:
        raise BadInput("--servers names no server; give their names, as in --servers corpus,web")
    return servers


def checked_request_key(key: str | None) -> str | None:
    """The name that makes submitting a request again give the same job; None without one.

    Raises:
        BadInput: the name is blank.
    """
    if key is not None and not key.strip():
        raise BadInput("--id is empty; give a name of your own for this request")
    return key
