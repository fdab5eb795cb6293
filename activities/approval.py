"""Asking for a plan's approval, and what the answer does to the plan."""

from activities.scopes import ground_of_plan
from models.errors import BadInput
from models.jobs import JobRequest, JobStatus, StopReason
from models.plan import Plan, TaskStatus
from models.questions import OpenQuestion, QuestionKind
from models.state import AnswerReceipt, EndJob
from models.strategy import Strategy
from models.text import shortened
from planning.agents import Agents
from planning.answers import CHOICES
from planning.edited import Edit, edited, read_plan
from planning.tool_names import with_full_tool_names
from planning.validation import plan_faults
from storage.database import JobWrite
from storage.questions import NewQuestion, open_question
from tools.hub import Hub

_FIRST_LINE = 200


def needs_approval(strategy: Strategy) -> bool:
    """Whether somebody is to see the plan first; one that is only planned is looked at anyway."""
    return strategy.review and not strategy.plan_only


async def ask_approval(write: JobWrite, revision: int, tasks: int) -> tuple[OpenQuestion, ...]:
    """Ask whether the plan is to be worked; there is no deadline, for silence is no approval."""
    kind = QuestionKind.APPROVAL
    new = NewQuestion(
        key=f"approval:{revision}",
        kind=kind,
        text=f"Is this plan of {tasks} tasks to be worked?",
        choices=tuple(each.value for each in CHOICES[kind]),
    )
    asked = await open_question(write, new)
    return () if asked is None else (asked,)


def refused(words: str) -> AnswerReceipt:
    """The end of a job whose plan is not wanted."""
    why = shortened(" ".join(words.split()), _FIRST_LINE) or "the plan was refused"
    reason = StopReason.PLAN_REFUSED
    return AnswerReceipt(ends=EndJob(status=JobStatus.CANCELLED, reason=reason, message=why))


async def checked_edit(
    hub: Hub, agents: Agents, request: JobRequest, stored: Plan, text: str
) -> Edit:
    """What the edited text makes of the stored plan.

    Raises:
        BadInput: it is no plan, or one that cannot run; every fault is named with its task.
    """
    signatures = await hub.only(request.servers).signatures()
    gone = (task.id for task in stored.tasks if task.status is TaskStatus.SUPERSEDED)
    ground = ground_of_plan(request, signatures, agents.usable(signatures), frozenset(gone))
    wanted = with_full_tool_names(read_plan(text), ground.tools)
    faults = plan_faults(wanted, ground)
    if faults:
        raise BadInput("; ".join(faults))
    return edited(stored, wanted)
