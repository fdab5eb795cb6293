"""Check what a person submits, and build the job request; no service is needed for this.

Each face (command line, HTTP, MCP, Responses) gives a `JobSubmission`. What needs PostgreSQL, the
earlier job and the collection, is resolved by `request_completion`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import Field, JsonValue

from holdfast.jobs.model_checks import (
    check_job_models,
    checked_model_name,
    transcript_note,
    with_role_models,
)
from holdfast.jobs.written_texts import WRITTEN_TEXT, checked_question
from holdfast.models.error_fields import error_field
from holdfast.models.errors import BadInput
from holdfast.models.frozen_model import Frozen
from holdfast.models.jobs.follow_up import (
    MOST_EARLIER,
    MOST_GIVEN,
    EarlierQuestion,
    FollowUp,
)
from holdfast.models.jobs.job_record import JobRequest
from holdfast.planning.strategies.strategy_presets import preset, with_settings
from holdfast.settings import Settings

_FOLLOWING_PRESET = "loop"


class JobSubmission(Frozen):
    """A question with everything that a person may say about its job."""

    question: str = Field(
        description="The question, at most 20,000 characters.", json_schema_extra=WRITTEN_TEXT
    )
    collection: str | None = Field(
        default=None,
        description="The collection that the job reads; none if left out.",
    )
    preset: str | None = Field(
        default=None, description="How the job works; the installation's default if left out."
    )
    model: str | None = Field(
        default=None, description="The model of all roles; the installation's default if left out."
    )
    settings: Mapping[str, JsonValue] = Field(
        default_factory=dict, description="Changed settings of the preset, by name."
    )
    servers: tuple[str, ...] | None = Field(
        default=None, description="The only tool servers that the job may use; all if left out."
    )
    follows: str | None = Field(
        default=None, description="The ended job that this question follows, by id."
    )
    earlier: tuple[EarlierQuestion, ...] = Field(
        default=(),
        max_length=MOST_GIVEN,
        description="The conversation so far, held elsewhere: questions and answers, newest last.",
    )
    review: bool = Field(default=False, strict=True, description="Wait for approval of the plan.")
    plan_only: bool = Field(
        default=False, strict=True, description="Only plan, and estimate the cost."
    )


@dataclass(frozen=True)
class CheckedSubmission:
    """A request that can be stored once its earlier job or its collection is resolved."""

    request: JobRequest
    follows: str = ""
    """The job that the question follows; empty: the question stands alone."""
    note: str = ""
    """What the user should know of the settings; empty: nothing."""

    def with_collection(self, name: str) -> "CheckedSubmission":
        """The submission with another collection."""
        request = self.request.model_copy(update={"collection": name})
        return CheckedSubmission(request, self.follows, self.note)


def check_submission(
    submission: JobSubmission, settings: Settings, owner: str
) -> CheckedSubmission:
    """The request, checked as far as that is possible without a service.

    Raises:
        BadInput: the question, the preset, the model or a setting cannot be used.
        NotFound: there is no such preset.
        BadConfiguration: `holdfast.toml` cannot be used.
    """
    with error_field("question"):
        question = checked_question(submission.question)
    with error_field("follows"):
        _check_follows(submission)
    follows = submission.follows is not None
    name = submission.preset or _default_preset(settings, follows=follows)
    changes = _changes(submission)
    with error_field("preset"):
        chosen = preset(name).strategy
    with error_field("settings"):
        strategy = with_settings(chosen, changes)
    with error_field("model"):
        model = checked_model_name(submission.model or settings.model)
    if submission.model is None:
        # A model that is named for one job plays all its roles.
        strategy = with_role_models(strategy, name, settings)
    note = ""
    if settings.uses_embedded_temporal:
        # Workers elsewhere have their own environment, which this process cannot see.
        check_job_models(model, strategy, settings)
        is_chosen = "transcript_tokens" in changes
        note = transcript_note(strategy, model, settings, is_chosen=is_chosen)
    with error_field("servers"):
        servers = _checked_servers(submission.servers)
    request = JobRequest(
        question=question,
        preset=name,
        model=model,
        strategy=strategy,
        collection=submission.collection or "",
        servers=servers,
        owner=owner,
        follow_up=FollowUp(earlier=submission.earlier[-MOST_EARLIER:])
        if submission.earlier
        else None,
    )
    return CheckedSubmission(request, submission.follows or "", note)


def checked_request_key(key: str | None) -> str | None:
    """The name that makes submitting a request again give the same job; None without one.

    Raises:
        BadInput: the name is blank.
    """
    if key is not None and not key.strip():
        raise BadInput("the id of the request is empty; give a name of your own for this request")
    return key


def _changes(submission: JobSubmission) -> dict[str, JsonValue]:
    switches = {"review": submission.review, "plan_only": submission.plan_only}
    return {**submission.settings, **{name: True for name, is_on in switches.items() if is_on}}


def _default_preset(settings: Settings, *, follows: bool) -> str:
    """The preset of the settings; `loop` for a follow-up if that preset cannot follow a job."""
    can_follow = preset(settings.preset).strategy.begins_as_loop
    return _FOLLOWING_PRESET if follows and not can_follow else settings.preset


def _check_follows(submission: JobSubmission) -> None:
    """Refuse other documents and servers than those of the job that the question follows.

    Raises:
        BadInput: the submission names some, or no job.
    """
    if submission.follows is None:
        return
    if not submission.follows.strip():
        raise BadInput("`follows` names no job; `holdfast list` lists the jobs")
    check_follows_alone(
        {
            "collection": submission.collection,
            "servers": submission.servers,
            "earlier": submission.earlier or None,
        }
    )


def check_follows_alone(others: Mapping[str, object]) -> None:
    """Refuse what a follow-up takes from the job before it; `others` are the values by name.

    Raises:
        BadInput: one of the values is there.
    """
    if named := [name for name, value in others.items() if value is not None]:
        raise BadInput(
            f"{' and '.join(named)} cannot be given with `follows`: the new job reads what "
            "the job before it read"
        )


def _checked_servers(names: tuple[str, ...] | None) -> tuple[str, ...]:
    """The tool servers that the job may use; empty if it may use all.

    Raises:
        BadInput: the list is there, but names no server.
    """
    if names is None:
        return ()
    servers = tuple(dict.fromkeys(name.strip() for name in names if name.strip()))
    if not servers:
        raise BadInput("`servers` names no server; give their names, such as corpus and web")
    return servers
