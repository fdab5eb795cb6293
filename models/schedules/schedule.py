"""Define schedules: questions that are asked, or reports that are updated, at certain times."""

from datetime import datetime, timedelta
from enum import StrEnum

from pydantic import Field

from holdfast.models.frozen_model import Frozen
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.schedules.overlap_policy import OverlapPolicy

MAX_SCHEDULES = 100
"""The schedules that an owner may have."""
DEFAULT_CATCH_UP = timedelta(days=1)
MAX_LISTED_RUNS = 200


class ScheduleStatus(StrEnum):
    """Whether a schedule runs."""

    ACTIVE = "active"
    PAUSED = "paused"
    ENDED = "ended"


class ScheduledWork(Frozen):
    """What each run of a schedule does: ask a question, or update the newest report of a job."""

    request: JobRequest | None = None
    """The question with its settings; None: a report is updated."""
    updated_job: str = ""
    """The job whose report is updated; from the second run on, the newest update of the report."""
    searches_again: bool = False
    """True if an update runs all searches again."""


class ScheduleTerms(Frozen):
    """When a schedule runs."""

    times: str = Field(
        max_length=120,
        description="The times, such as `daily 08:00`, `weekly on monday 08:00` or `every 6h`.",
    )
    time_zone: str = Field(default="UTC", max_length=60, description="The time zone of the times.")
    overlap: OverlapPolicy = Field(
        default=OverlapPolicy.SKIP, description="What happens if the job before still runs."
    )
    catch_up: timedelta = Field(
        default=DEFAULT_CATCH_UP,
        description="A run that an outage delayed by less is made up for; a later one is left out.",
    )
    runs: int | None = Field(
        default=None, ge=1, le=100_000, description="The schedule ends after so many runs."
    )


class Schedule(Frozen):
    """A schedule."""

    id: str
    owner: str
    key_id: str = ""
    """The API key that made the schedule; the quota of the key rotated from it counts the jobs."""
    question: str
    work: ScheduledWork
    terms: ScheduleTerms
    status: ScheduleStatus = ScheduleStatus.ACTIVE
    note: str = ""
    """Why the schedule was paused or ended by itself; empty: a person did it."""
    created_at: datetime
    continued_at: datetime
    """When it was made or resumed last: what was due before is not made up for."""


class ReportChanges(Frozen):
    """What changed from one report to another."""

    compared_job: str
    """The job with the earlier report."""
    has_same_answer: bool
    claims: dict[str, int] = Field(default_factory=dict)
    """Claims by what became of them: new, gone, other_value, other_support, reworded, same."""
    in_words: str
    """The same in a sentence."""


class ScheduledRun(Frozen):
    """One run of a schedule."""

    run: str
    """Temporal's id of the run, with the time at which it was due."""
    job_id: str | None = None
    """The job of the run; None: none was needed, none could be submitted, or it was removed."""
    begun_at: datetime
    note: str = ""
    """Why there is no job."""
    status: str | None = None
    """The status of the job."""
    changes: ReportChanges | None = None
    """What changed since the run before; None: nothing to compare with, or not ended."""


class ScheduleView(Frozen):
    """A schedule as people see it."""

    id: str
    owner: str
    question: str
    updates: str = ""
    """The job whose report is updated; empty: the question is asked again."""
    terms: ScheduleTerms
    status: ScheduleStatus
    note: str = ""
    created_at: datetime
    next_run: datetime | None = None
    """None: the schedule does not run, or Temporal does not answer."""
    last_run: ScheduledRun | None = None
