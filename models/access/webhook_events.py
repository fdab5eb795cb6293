"""Define what a webhook can be told; the command line imports nothing more for its help."""

from enum import StrEnum


class WebhookEvent(StrEnum):
    """What a webhook can be told."""

    JOB_DONE = "job.done"
    """The job ended with its report."""
    JOB_FAILED = "job.failed"
    """The job failed or was cancelled; `data.status` says which."""
    JOB_ASKS = "job.asks"
    """The job asks a person."""
    JOB_PAUSED = "job.paused"
    """A person, the budget or the model endpoint paused the job."""
