"""Build and parse the keys of receipts and questions, and the ids of Temporal activities.

The keys are a wire format: a job that an earlier release began is continued by this one. No other
module writes or reads their syntax. PostgreSQL keeps the keys of receipts and questions; a changed
key of a receipt gets another `RECEIPT_KEY_FORMAT` and a reader in `models.wire.earlier_receipts`.
Temporal's histories keep activity ids, so a changed id breaks the replay of running jobs
(docs/changing-workflows.md). `#` stands before a number that grows when work is done again.
"""

import hashlib

RECEIPT_KEY_FORMAT = 2
"""The format of the keys of receipts; docs/changing-workflows.md lists the formats."""
ATTEMPT_SEPARATOR = "#"
"""Only the receipts of task attempts have it directly behind a task's id."""

# Receipts: what an activity recorded and gives back when it runs again.

LOOP_RECEIPT = "loop"
"""The receipt of the beginning with a cited loop."""
PLAN_RECEIPT = "plan"
"""While this receipt is there, planning again gives the same plan."""
REPORT_RECEIPT = "report"
END_RECEIPT = "end"
REVISION_RECEIPTS = "revise:"
"""How the keys of self-revisions' receipts begin: these receipts are counted."""
VERIFICATION_RECEIPTS, GAP_FILLING_RECEIPTS = "verify:", "fill:"
"""How the keys of verification rounds' receipts begin: a reopened job verifies again."""
ROUTING_RECEIPTS = "asked:"
"""How the keys of routed questions' receipts begin."""


def receipt_key_of_run(key: str, epoch: int) -> str:
    """The key of a receipt that counts for one workflow run and not for the next."""
    return f"{key}@{epoch}"


def task_receipt(task_id: str, attempt: int) -> str:
    """The key of the receipt of one attempt at a task."""
    return f"{task_id}#{attempt}"


def agent_turn_receipt(task_id: str, attempt: int, turn: int) -> str:
    """The key of the receipt of an agent's turn, counted from 0."""
    return f"{task_id}#{attempt}/{turn}"


def replan_receipt(failed_task: str, attempt: int) -> str:
    """The key of the receipt of the replanning that continues from a failed task."""
    return _numbered(f"replan:{failed_task}", attempt)


def revision_receipt(results_considered: int, job_attempt: int) -> str:
    """The key of the receipt of the self-revision that has seen so many results."""
    return f"{REVISION_RECEIPTS}{results_considered}#{job_attempt}"


def verification_receipt(round_: int) -> str:
    """The key of the receipt of one verification round's verdicts."""
    return f"{VERIFICATION_RECEIPTS}{round_}"


def gap_filling_receipt(round_: int) -> str:
    """The key of the receipt of filling one verification round's gaps."""
    return f"{GAP_FILLING_RECEIPTS}{round_}"


def routing_receipts(question_key: str) -> str:
    """How the keys of all receipts of one question's routings begin."""
    return f"{ROUTING_RECEIPTS}{question_key}#"


def routing_receipt(question_key: str, number: int) -> str:
    """The key of the receipt of a question's routing to a task."""
    return f"{routing_receipts(question_key)}{number}"


# Questions: the key tells asking twice apart from asking again.


def approval_question(plan_change: int) -> str:
    """The key of the question whether the plan may run, as that plan change left it."""
    return f"approval:{plan_change}"


def budget_question(pause: str) -> str:
    """The key of the question what to do about a reached cap; `pause` is the pause's own key."""
    return f"budget:{pause}"


def escalation_question(task_id: str, attempt: int) -> str:
    """The key of the question what becomes of a result that the verifier cannot judge."""
    return f"escalate:{task_id}#{attempt}"


def escalated_attempt(question_key: str) -> int:
    """The attempt that an escalation is about."""
    return int(question_key.rpartition(ATTEMPT_SEPARATOR)[2])


def agent_question(task_id: str, text: str) -> str:
    """The key of a question that an agent asks in these words."""
    digest = hashlib.sha256(text.strip().encode()).hexdigest()
    return f"{task_id}:{digest[:16]}"


# Controls and answers: one key names the activity and its receipt.


def update_key(name: str, update_id: str) -> str:
    """The key of a Temporal update; a repeated request has the same id."""
    return f"{name}-{update_id}"


def default_answer_key(question: int) -> str:
    """The key of the answer that a question's deadline gives."""
    return f"default-{question}"


def own_pause_key(number: int, epoch: int) -> str:
    """The key of a pause that a workflow run makes by itself."""
    return f"paused-{number}@{epoch}"


# Activities: what a person sees in the Temporal UI.

BEGIN_ACTIVITY = "begin"
LOOP_ACTIVITY = "loop"
PLAN_ACTIVITY = "plan"
REPORT_ACTIVITY = "report"
END_ACTIVITY = "end"
CANCEL_ACTIVITY = "cancel"
_REVISION, _VERIFICATION, _GAP_FILLING = "revise-", "verify-", "gaps-"


def task_activity(task_id: str, attempt: int) -> str:
    """The id of the activity that runs one attempt at a task."""
    return _numbered(task_id, attempt)


def agent_turn_activity(task_id: str, attempt: int, turn: int) -> str:
    """The id of the activity of an agent's turn, counted from 0."""
    return _numbered(task_id if turn == 0 else f"{task_id}/{turn}", attempt)


def task_of_activity(activity_id: str) -> str:
    """The task of a task's or an agent turn's activity; other ids name no task."""
    return activity_id.partition(ATTEMPT_SEPARATOR)[0].partition("/")[0]


def failure_activity(task_id: str) -> str:
    """The id of the activity that records that Temporal gave an attempt up."""
    return f"fail-{task_id}"


def replan_activity(failed_task: str) -> str:
    """The id of the activity that continues the plan from a failed task."""
    return f"replan-{failed_task}"


def revision_activity(results_considered: int) -> str:
    """The id of the self-revision that has seen so many results."""
    return f"{_REVISION}{results_considered}"


def is_revision_activity(activity_id: str) -> bool:
    """True if the activity is a self-revision."""
    return activity_id.startswith(_REVISION)


def verification_activity(round_: int) -> str:
    """The id of the activity that verifies the results of a round."""
    return f"{_VERIFICATION}{round_}"


def gap_filling_activity(round_: int) -> str:
    """The id of the activity that fills the gaps of a round."""
    return f"{_GAP_FILLING}{round_}"


def is_verification_activity(activity_id: str) -> bool:
    """True if the activity verifies results or fills gaps."""
    return activity_id.startswith((_VERIFICATION, _GAP_FILLING))


def page_activity(after: int) -> str:
    """The id of the activity that reads the tasks behind a position."""
    return f"read-{after}"


def comparison_activity(number: int) -> str:
    """The id of the activity that compares PostgreSQL with what a run has seen."""
    return f"compare-{number}"


def _numbered(name: str, attempt: int) -> str:
    """The name, with the number of every attempt but the first."""
    return name if attempt == 1 else f"{name}#{attempt}"
