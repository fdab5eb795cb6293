"""Say in the words of the API what a message says in those of the command line.

The use cases are shared, and their errors name the command that helps. A program that sent a
request cannot run a command, so its problem document names the request. What only the operator can
do, such as `holdfast up`, stays a command.
"""

import re
import shlex
from collections.abc import Mapping, Sequence

REQUESTS: Mapping[str, str] = {
    "answer": "GET /v1/jobs/<JOB>/questions/open",
    "cancel": "POST /v1/jobs/<JOB>/cancel",
    "corpus list": "GET /v1/collections/<NAME>/documents",
    "doctor": "GET /v1/doctor",
    "erase --with-follow-ups": 'POST /v1/erasures` with `{"job": "<JOB>", "with_follow_ups": true}',
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
_COMMAND = re.compile(r"`holdfast ([^`]+)`")
_PLACEHOLDER = re.compile(r"<([A-Z]+)>")


def in_requests(message: str) -> str:
    """Return the message with requests in the place of commands, where a request does the same."""
    return _COMMAND.sub(lambda found: _request_for(found[1]) or found[0], message)


def _request_for(command: str) -> str:
    """Return the request in backticks; empty if only a person at the command line can do it."""
    try:
        words = shlex.split(command)
    except ValueError:
        return ""
    options = [word for word in words if word.startswith("--")]
    for length in (2, 1):
        name = " ".join(words[:length])
        keys = [f"{name} {option}" for option in options] + [name]
        if template := next((REQUESTS[key] for key in keys if key in REQUESTS), ""):
            return f"`{_filled(template, words[length:])}`"
    return ""


def _filled(template: str, values: Sequence[str]) -> str:
    """Put the values into the template in their order; a place without a value keeps its name."""
    following = iter(values)
    return _PLACEHOLDER.sub(lambda place: next(following, place[1]), template)
