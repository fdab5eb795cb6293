"""Say in the words of the API what a message says in those of the command line.

A program that sent a request cannot run a command, so an answer names the request. What only the
operator can do, such as `holdfast up`, stays a command.
"""

from collections.abc import Mapping

from holdfast.api.commands_in_messages import replace_commands
from holdfast.models.views.status_views import StatusDocument, WaitingQuestion

REQUESTS: Mapping[str, str] = {
    "answer": "GET /v1/jobs/<JOB>/questions/open",
    "cancel": "POST /v1/jobs/<JOB>/cancel",
    "corpus list": "GET /v1/collections/<NAME>/documents",
    "doctor": "GET /v1/doctor",
    "erase --with-follow-ups": 'POST /v1/erasures` with `{"job": "<JOB>", "with_follow_ups": true}',
    "erasures": "GET /v1/erasures",
    "export": "GET /v1/jobs/<JOB>/bundle",
    "import --as": "POST /v1/bundles` with the field `new_id",
    "keys create": 'POST /v1/keys` with `{"name": "<NAME>", "owner": "<OWNER>"}',
    "keys create --scope": "POST /v1/keys` and its field `scopes",
    "keys list": "GET /v1/keys",
    "list": "GET /v1/jobs",
    "models list": "GET /v1/configured-models",
    "plan": "GET /v1/jobs/<JOB>/plan/changes",
    "prune --dry-run": 'POST /v1/prune` with `{"dry_run": true}',
    "questions": "GET /v1/jobs/<JOB>/questions",
    "quotas list": "GET /v1/quotas",
    "quotas set": "PUT /v1/quotas/<KIND>/<SUBJECT>",
    "report": "GET /v1/jobs/<JOB>/report",
    "report --partial": "POST /v1/jobs/<JOB>/partial-report",
    "resume": "POST /v1/jobs/<JOB>/resume",
    "resume --set": 'POST /v1/jobs/<JOB>/resume` with `{"settings": {"max_cost": null}}',
    "retry": 'POST /v1/jobs/<JOB>/retry` with `{"tasks": ["<TASK>"]}',
    "run": 'POST /v1/jobs` with `{"question": "..."}',
    "schedules list": "GET /v1/schedules",
    "show": "GET /v1/jobs/<JOB>",
    "status": "GET /v1/jobs/<JOB>/status",
    "trace": "GET /v1/jobs/<JOB>/provenance/<MARK>",
    "wait": "GET /v1/jobs/<JOB>/wait",
    "webhooks list": "GET /v1/webhooks",
}
"""The request that does what the command does; `NAME --OPTION` is the command with the option."""
_IN_BACKTICKS = {command: f"`{request}`" for command, request in REQUESTS.items()}


def in_requests(message: str) -> str:
    """Return the message with requests in the place of commands, where a request does the same."""
    return replace_commands(message, _IN_BACKTICKS)


def status_in_requests(status: StatusDocument) -> StatusDocument:
    """Return the status with requests in the place of commands."""
    asked = [question_in_requests(status.job_id, each) for each in status.questions]
    blockers = list(status.blocked_by)
    for before, after in zip(status.questions, asked, strict=True):
        blockers = [each.replace(before.answer_with, after.answer_with) for each in blockers]
    changes = {
        "blocked_by": tuple(map(in_requests, blockers)),
        "questions": tuple(asked),
    }
    return status.model_copy(update=changes)


def question_in_requests(job_id: str, question: WaitingQuestion) -> WaitingQuestion:
    """Return the question with the request that answers it."""
    request = f"POST /v1/jobs/{job_id}/questions/{question.id}"
    return question.model_copy(update={"answer_with": request})
