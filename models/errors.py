"""Define all errors that Holdfast raises, divided by whether trying again can help.

HoldfastError
├── Passing                 trying again may help
│   ├── ModelBusy           429, 5xx, a dropped connection: carries `after`
│   │   ├── ModelPaused     a 429 to any task makes all wait: carries `since`; not sent
│   │   └── MalformedReply  the reply is no chat completion; tried again a few times
│   ├── ModelTurnAwaited    a limit that all workers share has no room: carries `after`
│   ├── ToolBusy            the tool's server is away, and the call never left
│   ├── CallAwaited         another task makes the same call now, and may not be doubled
│   ├── StorageAway         PostgreSQL does not answer
│   ├── CollectorAway       the collector of traces did not take the spans
│   ├── AttemptTimeOver     one attempt took longer than it may; the next one goes on
│   ├── Overtaken           another attempt at the same work was stored first
│   └── BudgetHeld          calls under way hold the room that the next model call needs
├── Suspending              trying again helps once a person has acted: the job pauses
│   ├── QuotaExhausted      the account at the endpoint has no credit left
│   └── BudgetReached       the job's cap leaves no room for the next model call
└── Lasting                 trying again will not help
    ├── BadInput            what the user gave cannot be used
    │   ├── NotFound        a job, preset or setting of that name does not exist
    │   └── PartMissing     an optional part of Holdfast is needed and not installed
    ├── BadConfiguration    settings or holdfast.toml are wrong
    ├── ModelRefused        401, 403, 404: carries `status`
    ├── ModelUnusable       the endpoint answers, but not with what the protocol promises
    ├── ContextTooLong      the request does not fit into the model's context
    ├── ToolFailed          the tool answered with an error
    │   └── DocumentGone    the tool says that there is no such document
    ├── OutcomeUnknown      a call left, no answer came, and it is not safe to repeat
    ├── Unresolved          a reference points to nothing
    ├── WorkTimeOver        workers have worked on it for as long as they may: `worked_s`
    ├── ReportInvalid       no version of the report was valid
    ├── WorkerStalled       three workers stood still while they ran the activity
    ├── StaleEpoch          a newer run of the job has taken over
    ├── StateBehind         PostgreSQL was restored, and lacks what this run has seen
    └── ServiceDown         an embedded or configured service cannot be reached
"""

from datetime import datetime, timedelta
from enum import StrEnum


class FailureClass(StrEnum):
    """The class of a failure, which decides retry, fallback, replanning or asking."""

    TRANSPORT = "transport"
    QUOTA = "quota"
    SEMANTIC = "semantic"
    TOOL = "tool"
    POLICY = "policy"
    STATE = "state"


class HoldfastError(Exception):
    """The base class of all errors; `failure_class` is the class of the failure."""

    failure_class = FailureClass.STATE


class Passing(HoldfastError):
    """Trying again may help, after the time `after` if the other side named one."""

    failure_class = FailureClass.TRANSPORT

    def __init__(self, message: str, *, after: timedelta | None = None) -> None:
        super().__init__(message)
        self.after = after


class ModelBusy(Passing):
    """The model's endpoint is overloaded or unreachable at the moment; `status` is its answer's."""

    def __init__(
        self, message: str, *, after: timedelta | None = None, status: int | None = None
    ) -> None:
        super().__init__(message, after=after)
        self.status = status

    @property
    def is_throttled(self) -> bool:
        """True if the endpoint has refused the request because there were too many (429)."""
        return self.status == 429


class ModelPaused(ModelBusy):
    """The endpoint refuses the model's requests since `since` (429); this one was not sent.

    The wait counts as failing of the model, like a refusal of the call itself.
    """

    def __init__(self, message: str, *, after: timedelta, since: datetime) -> None:
        super().__init__(message, after=after)
        self.since = since


class MalformedReply(ModelBusy):
    """The reply is no chat completion, for example a proxy's page; the next may be one.

    `replies` is the number of such replies to the request so far.
    """

    replies = 1


class ModelTurnAwaited(Passing):
    """A model's limit, which all workers share, leaves no room now; the call was not sent.

    The wait is neither a failure of the model nor work of the task.
    """


class ToolBusy(Passing):
    """The tool's server is unreachable and the call was not sent, so repeating is safe."""


class CallAwaited(Passing):
    """Another task makes the same call of a tool now; its answer is awaited, and nothing was sent.

    The wait is no work of the task.
    """


class StorageAway(Passing):
    """PostgreSQL does not answer, as far as this process knows from the time `since` on."""

    def __init__(self, message: str, *, since: datetime | None = None) -> None:
        super().__init__(message)
        self.since = since


class CollectorAway(Passing):
    """The collector of traces did not take the spans; the ledger has them still."""


class AttemptTimeOver(Passing):
    """One attempt took longer than it may; the next attempt goes on from the recorded calls."""


class Overtaken(Passing):
    """Another attempt at the same work was stored first; trying again returns its result."""


class BudgetHeld(Passing):
    """Running calls reserve the budget that this call needs; try again when they have ended.

    The wait is no work of the task.
    """


class Suspending(HoldfastError):
    """Trying again helps after a person has acted; until then the job is paused."""

    failure_class = FailureClass.QUOTA


class QuotaExhausted(Suspending):
    """The account at the model's endpoint has no credit left."""


class BudgetReached(Suspending):
    """The next model call could exceed the job's budget, so it was not made."""


class Lasting(HoldfastError):
    """Trying again with the same input will not help."""


class BadInput(Lasting):
    """The user's input cannot be used; the message names the input and the remedy.

    `field` is the place in a form or a body, such as `settings.max_cost`; empty if none is meant.
    """

    failure_class = FailureClass.POLICY

    def __init__(self, message: str, *, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class NotFound(BadInput):
    """Nothing of that name exists; the message names similar or known names.

    `is_named`: what the request names is missing, and not a part of it, such as its report.
    """

    def __init__(self, message: str, *, field: str = "", is_named: bool = True) -> None:
        super().__init__(message, field=field)
        self.is_named = is_named


class RequestKeyTaken(BadInput):
    """The name of a request, which makes repeating it safe, belongs to another request."""


class PlanMoved(BadInput):
    """The plan has changed since the caller read it."""


class PartMissing(BadInput):
    """The input needs an optional part of Holdfast; the message has the command to install it."""


class BadConfiguration(Lasting):
    """Settings or `holdfast.toml` are wrong; the message names the key."""

    failure_class = FailureClass.POLICY


class ModelRefused(Lasting):
    """The endpoint refuses this request for good: key, permission or model name."""

    failure_class = FailureClass.POLICY

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class ModelUnusable(Lasting):
    """The endpoint's answers are no chat completions, or never valid ones."""

    failure_class = FailureClass.SEMANTIC


class ContextTooLong(Lasting):
    """The request does not fit into the model's context."""

    failure_class = FailureClass.SEMANTIC


class ToolFailed(Lasting):
    """The tool answered with an error, or with something its schema does not allow."""

    failure_class = FailureClass.TOOL


class DocumentGone(ToolFailed):
    """The tool reports that the document does not exist, or does not exist any more."""


class OutcomeUnknown(Lasting):
    """The call was sent, no answer arrived, and the tool is not declared safe to repeat."""

    failure_class = FailureClass.TOOL


class Unresolved(Lasting):
    """A reference points to nothing in memory."""

    failure_class = FailureClass.STATE


class WorkTimeOver(Lasting):
    """Workers have worked on an activity for as long as its limit allows, over all attempts."""

    def __init__(self, message: str, *, worked_s: float = 0.0) -> None:
        super().__init__(message)
        self.worked_s = worked_s


class ReportInvalid(Lasting):
    """No version of the model's report was valid; the message lists the faults."""

    failure_class = FailureClass.SEMANTIC


class WorkerStalled(Lasting):
    """Three workers stood still while they ran this activity, so it is not run again."""


class StaleEpoch(Lasting):
    """A newer run of this job has taken over; this run must not write."""


class StateBehind(Lasting):
    """PostgreSQL was restored from a backup and lacks what this run of the job has seen."""


class ServiceDown(Lasting):
    """A required service cannot be reached; the message says how to start it."""

    failure_class = FailureClass.TRANSPORT
