"""Define what the workflow of a schedule's run and its activities give to each other."""

from holdfast.models.frozen_model import Frozen


class ScheduleOrder(Frozen):
    """The input of the workflow: the schedule that is due."""

    schedule_id: str


class RunScheduleOrder(Frozen):
    """Begin one run of a schedule."""

    schedule_id: str
    run: str
    """The id of the run's workflow, which has the time at which the run was due."""


class ScheduleReceipt(Frozen):
    """What became of a run."""

    job_id: str | None = None
    """The job that was submitted; None: there is none."""


class ScheduledJobOrder(Frozen):
    """Look at the job of a run."""

    job_id: str
