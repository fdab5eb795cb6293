"""All errors that Holdfast raises, split by the one question callers have: can trying again help?

HoldfastError
├── Passing                 trying again may help
│   ├── ModelBusy           429, 5xx, a dropped connection: carries `after`
│   ├── ToolBusy            the tool's server is away, and the call never left
│   ├── StorageAway         PostgreSQL does not answer
│   ├── Overtaken           another attempt at the same work was stored first
│   └── BudgetHeld          calls under way hold the room that the next model call needs
├── Suspending              trying again helps once a person has acted: the job pauses
│   ├── QuotaExhausted      the account at the endpoint has no credit left
│   └── BudgetReached       the job's cap leaves no room for the next model call
└── Lasting                 trying again will not help
├── BadInput            what the user gave cannot be used
│   └── NotFound        a job, preset or setting of that name does not exist
├── BadConfiguration    settings or holdfast.toml are wrong
├── ModelRefused        401, 403, 404: carries `status`
├── ModelUnusable       the endpoint answers, but not with what the protocol promises
├── ContextTooLong      the request does not fit into the model's context
├── ToolFailed          the tool answered with an error
│   └── DocumentGone    the tool says that there is no such document
├── OutcomeUnknown      a call left, no answer came, and it is not safe to repeat
├── Unresolved          a reference points to nothing
├── ReportInvalid       no version of the report was valid
├── StaleEpoch          a newer run of the job has taken over
└── ServiceDown         an embedded or configured service cannot be reached
"""

from datetime import datetime, timedelta
from enum import StrEnum


class FailureClass(StrEnum):
    """What kind of failure a task had; it decides retry, fallback, replanning or asking."""

    TRANSPORT = "transport"
    QUOTA = "quota"
    SEMANTIC = "semantic"
    TOOL = "tool"
    POLICY = "policy"
    STATE = "state"


class HoldfastError(Exception):
    """The root; `failure_class` says what kind of failure this is."""

    failure_class = FailureClass.STATE


class Passing(HoldfastError):
    """Trying again may help, after `after` where the other side named a time."""

    failure_class = FailureClass.TRANSPORT

    def __init__(self, message: str, *, after: timedelta | None = None) -> None:
        super().__init__(message)
        self.after = after


class ModelBusy(Passing):
    """The model's endpoint is overloaded or unreachable for now."""


class ToolBusy(Passing):
    """The tool's server is away and the call never left, so it is safe to repeat."""


class StorageAway(Passing):
    """PostgreSQL does not answer, `since` when as far as this process knows."""

    def __init__(self, message: str, *, since: datetime | None = None) -> None:
        super().__init__(message)
        self.since = since


class Overtaken(Passing):
    """Another attempt at the same work was stored first; trying again gives what it stored."""


class BudgetHeld(Passing):
    """Calls under way hold the room that this one needs; once they are back there may be some."""


class Suspending(HoldfastError):
    """Trying again helps once a person has acted; until then the job is paused, not failed."""

    failure_class = FailureClass.QUOTA


class QuotaExhausted(Suspending):
    """The account at the model's endpoint has no credit left."""


class BudgetReached(Suspending):
    """The next model call might pass the job's cap, so it was not made."""


class Lasting(HoldfastError):
    """Trying again with the same input will not help."""


class BadInput(Lasting):
    """What the user gave cannot be used; the message names it and the way out."""

    failure_class = FailureClass.POLICY


class NotFound(BadInput):
    """Nothing of that name exists; the message names near or known ones."""


class BadConfiguration(Lasting):
    """Settings or `holdfast.toml` are wrong; the message names the key."""

    failure_class = FailureClass.POLICY


class ModelRefused(Lasting):
    """The endpoint will not serve this request, now or later: key, permission or name."""

    failure_class = FailureClass.POLICY

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class ModelUnusable(Lasting):
    """The endpoint answers with something that is not a chat completion, or never a valid one."""

    failure_class = FailureClass.SEMANTIC


class ContextTooLong(Lasting):
    """The request does not fit into the model's context."""

    failure_class = FailureClass.SEMANTIC


class ToolFailed(Lasting):
    """The tool answered with an error, or with something its schema does not allow."""

    failure_class = FailureClass.TOOL


class DocumentGone(ToolFailed):
    """The tool says that there is no such document, or none any more."""


class OutcomeUnknown(Lasting):
    """The call left, no answer came back, and the tool is not declared safe to repeat."""

    failure_class = FailureClass.TOOL


class Unresolved(Lasting):
    """A reference points to nothing in memory."""

    failure_class = FailureClass.STATE


class ReportInvalid(Lasting):
    """No version of the report that the model wrote was valid; the message says what was wrong."""

    failure_class = FailureClass.SEMANTIC


class StaleEpoch(Lasting):
    """A newer run of this job has taken over; this one must not write."""


class ServiceDown(Lasting):
    """A service that this command needs cannot be reached; the message says how to start it."""

    failure_class = FailureClass.TRANSPORT
