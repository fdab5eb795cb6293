"""Load what earlier attempts at an agent task found, tried and could not find."""

from dataclasses import dataclass, field

from holdfast.activities.agents.agent_turn_rules import AgentTurn
from holdfast.activities.agents.shown_steps import call_in_words
from holdfast.models.loop.loop_messages import EarlierAttempt
from holdfast.models.text.reference_marks import disarm_references
from holdfast.planning.loop.handover import open_links
from holdfast.planning.text.bounded_entries import first_that_fit, newest_that_fit
from holdfast.storage.core.database import Database
from holdfast.storage.evidence.retraction_rows import entities_without_evidence
from holdfast.storage.plans.given_quote_queries import GivenQuote, quotes_of_earlier_attempts
from holdfast.storage.plans.loop_result_rows import load_loop_result
from holdfast.storage.plans.transcript_rows import LoopAttempt

ROOM_FOR_CALLS = 3_000
"""Characters of the calls that were tried; the newest stay."""
_ROOM_FOR_LINKS = 2_000
"""Characters of what was not found."""


@dataclass(frozen=True)
class EarlierAttempts:
    """What the first message of a further attempt shows, and the quotes that it may cite."""

    shown: EarlierAttempt | None = None
    quotes: tuple[GivenQuote, ...] = ()
    left_out: dict[str, int] = field(default_factory=dict)
    """How many entries of which field have no room."""


async def load_earlier_attempts(db: Database, turn: AgentTurn, search: str) -> EarlierAttempts:
    """Return what the attempts before this one leave to it; nothing for the first attempt.

    `search` is the name of the search tool, whose calls are shown by their query alone.
    """
    view, job_id, task_id = turn.view, turn.order.job_id, turn.order.task_id
    if view.stored.attempt == 1:
        return EarlierAttempts()
    calls = (call_in_words(each, search) for each in view.earlier if each.task.tool)
    distinct = list(dict.fromkeys(str(disarm_references(call)) for call in calls))
    tried = newest_that_fit(distinct, ROOM_FOR_CALLS, len)
    result = await load_loop_result(db, job_id, LoopAttempt(task_id, view.stored.attempt - 1))
    links = [str(disarm_references(each)) for each in open_links(result)] if result else []
    not_found = first_that_fit(links, _ROOM_FOR_LINKS, len)
    found = view.bounded_found(await entities_without_evidence(db, job_id))
    return EarlierAttempts(
        shown=EarlierAttempt(found=found.shown, tried=tried.shown, not_found=not_found.shown),
        quotes=tuple(await quotes_of_earlier_attempts(db, job_id, task_id)),
        left_out={
            "found": found.left_out,
            "tried": tried.left_out,
            "not_found": not_found.left_out,
        },
    )
