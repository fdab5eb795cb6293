"""Check the options of `run` and `submit`, and make the submission from them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from holdfast.cli.options.command_settings import load_command_settings
from holdfast.cli.options.text_options import read_question
from holdfast.jobs.current_user import current_user
from holdfast.jobs.job_submission import (
    CheckedSubmission,
    JobSubmission,
    check_follows_alone,
    check_submission,
)
from holdfast.models.errors import BadInput
from holdfast.planning.strategies.written_settings import parse_setting_changes
from holdfast.settings import Settings


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
    """A submission that can be stored once its documents have been read."""

    settings: Settings
    submission: CheckedSubmission
    docs: Path | None
    """The documents to read into the request's collection, or into one named after the path."""


def check_run(options: RunOptions) -> CheckedRun:
    """The submission, checked as far as that is possible without a service.

    Raises:
        BadInput: the question, the documents, the preset, the model or a setting cannot be used.
        BadConfiguration: an environment variable cannot be used.
    """
    if options.follows is not None:
        others = ("docs", "collection", "servers")
        check_follows_alone({name: getattr(options, name) for name in others})
    settings = load_command_settings()
    submission = JobSubmission(
        question=read_question(options.question),
        collection=options.collection,
        preset=options.preset,
        model=options.model,
        settings=parse_setting_changes(options.settings),
        servers=None if options.servers is None else tuple(options.servers.split(",")),
        follows=options.follows,
    )
    checked = check_submission(submission, settings, current_user())
    if options.docs is not None:
        check_docs(options.docs)
    return CheckedRun(settings, checked, options.docs)


def check_docs(path: Path) -> None:
    """Refuse documents that do not exist.

    Raises:
        BadInput: there is no such folder or file.
    """
    if not path.expanduser().exists():
        raise BadInput(f"--docs {str(path)!r} does not exist; give a folder or a document")
