"""Tests that texts which a job stores, logs and sends name no command of the command line.

The page, the API, MCP and receivers of webhooks show them too. Each interface adds its own hint.
"""

from tests.support.named_commands import commands_by_module

_REFUSALS = {
    "planning/plans/fork_scope.py",
    "workflows/answer_updates.py",
    *(f"storage/access/{name}_rows.py" for name in ("api_key", "quota", "webhook")),
    "storage/core/database.py",
    "storage/evidence/retraction_rows.py",
    "storage/evidence/source_queries.py",
    "storage/forks/fork_rows.py",
    "storage/jobs/job_removal.py",
    "storage/jobs/job_rows.py",
    "storage/ledger/traced_jobs.py",
    "storage/questions/question_rows.py",
    "storage/schedules/schedule_rows.py",
}
"""Modules whose errors answer a request of a person at once, in the words of the interface."""
_FLOORS = ("planning", "storage", "tools", "activities", "workflows", "models", "roles")


def test_only_refusals_name_commands_below_the_interfaces() -> None:
    naming = {name for name in commands_by_module() if name.startswith(_FLOORS)}

    assert naming == _REFUSALS
