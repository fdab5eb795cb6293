"""Name the places of calls in the ledger: where in an attempt a call was made.

A place is found again after a crash and by a later release: with the job, the attempt, and the role
or tool it identifies a call, whatever the words of the request are (docs/changing-workflows.md).
Calls of a task have the task's id as `task_id`; calls of the job have a label there, which is the
key of the receipt except for planning. `part` is the dialogue's place within the attempt, and the
number of the request in the dialogue.

No other module builds these names.
"""

from typing import NamedTuple

from holdfast.models.wire import stored_keys

REPORT_LABEL = "report"
"""The label of the calls that write and check the report."""
CORRECTED_REPORT = "again"
"""The place of the report's second version, and of its checks."""
_LATER_PLANS = "plan:"
_LONGEST_PLACE = 200


class CallPlaces(NamedTuple):
    """Where the calls of one order are in the ledger: at these names, or at names that begin so."""

    exact: tuple[str, ...] = ()
    beginnings: tuple[str, ...] = ()


def planning_places() -> CallPlaces:
    """The places of the planner's calls, whatever number of plans was discarded."""
    return CallPlaces(exact=(planning_label(0),), beginnings=(_LATER_PLANS,))


def replanning_places(failed_task: str) -> CallPlaces:
    """The places of the calls that continue the plan from a failed task, whatever its attempt."""
    first = stored_keys.replan_receipt(failed_task, 1)
    return CallPlaces(exact=(first,), beginnings=(first + stored_keys.ATTEMPT_SEPARATOR,))


def verification_places(round_: int) -> CallPlaces:
    """The places of the calls that verify a round, and that plan how to fill its gaps."""
    return CallPlaces(
        exact=(stored_keys.verification_receipt(round_), stored_keys.gap_filling_receipt(round_))
    )


def comparison_label(other_job: str) -> str:
    """The label of the calls that match the claims of an ended job with those of another job."""
    return f"compare:{other_job}"


def planning_label(discarded_tasks: int) -> str:
    """The label of the planner's calls: another one for each discarded plan."""
    return f"{_LATER_PLANS}{discarded_tasks}" if discarded_tasks else ""


def chunk_place(number: int, chunks: int) -> str:
    """The place of the extraction from one chunk of an answer."""
    return f"chunk{number}" if chunks > 1 else ""


def match_place(parameter: str) -> str:
    """The place of the search for a value that a tool's parameter knows."""
    return f"match:{parameter}"[:_LONGEST_PLACE]


def turn_place(turn: int, answers: int, *more: str) -> str:
    """The place of a decision in an agent's turn; each answered question begins another place."""
    asked = f"+{answers}" if answers else ""
    return "/".join((f"{turn}{asked}", *more))


def loop_place(turn: int, reply: int, *, is_judge: bool = False) -> str:
    """The place of a reply of a loop's agent, counted from 1, or of the judge of that reply."""
    return f"{turn}/{'judge' if is_judge else 'reply'}{reply}"


def compaction_place(turn: int) -> str:
    """The place of the choice of what a loop's transcript keeps."""
    return f"{turn}/compaction"


def turn_of_loop(part: str) -> int:
    """The agent's turn in which a part of a loop was asked."""
    return int(part.partition("/")[0])


def answer_place(question_key: str, where: str, routings: int) -> str:
    """The place of the search for an answer to an agent's question, in memory or in evidence."""
    return f"{question_key}/{where}{routings}"


def group_place(number: int) -> str:
    """The place of the summary of one group of results."""
    return f"group{number}"


def call_part(place: str, number: int) -> str:
    """The part of a request: the place of its dialogue, and its number there, from 1."""
    return f"{place}/{number}" if place else str(number)
