"""Implement `holdfast plan` and `memory`: print a plan, its changes, and the entity memory."""

import json

from holdfast.cli.commands.jobs.plan_editor import plan_to_yaml
from holdfast.cli.installation_access import run_with_job
from holdfast.cli.render.plan_lines import plan_change_lines, plan_table
from holdfast.cli.render.terminal_output import (
    console,
    print_json,
    print_json_text,
    print_text,
)
from holdfast.client import Holdfast
from holdfast.jobs.job_lookup import plan_of
from holdfast.models.plans.kpi_chain_format import memory_document
from holdfast.models.plans.research_plan import Plan
from holdfast.models.plans.stored_plan_change import StoredPlanChange
from holdfast.storage.plans import plan_change_rows, task_queries


def plan_command(job: str, *, diff: bool, json_output: bool) -> None:
    """Print the current plan, or all its changes."""
    if diff:
        _plan_changes_command(job, json_output=json_output)
        return
    plan = run_with_job(job, plan_of)
    if json_output:
        print_json(list(plan.tasks))
    else:
        console().print(plan_table(plan))


def plan_yaml_command(job: str) -> None:
    """Print the plan as a file to edit."""
    print_text(plan_to_yaml(run_with_job(job, plan_of)))


def memory_command(job: str) -> None:
    """Print the entity memory as JSON."""
    plan = run_with_job(job, plan_of)
    print_json_text(json.dumps(memory_document(plan), indent=2, ensure_ascii=False))


def _plan_changes_command(job: str, *, json_output: bool) -> None:
    async def read(
        holdfast: Holdfast, job_id: str
    ) -> tuple[Plan, dict[str, str], list[StoredPlanChange]]:
        stored = await task_queries.load_tasks(holdfast.db, job_id)
        changes = await plan_change_rows.load_plan_changes(holdfast.db, job_id)
        plan = Plan(tasks=tuple(each.task for each in stored))
        return plan, {each.task.id: each.root for each in stored}, changes

    plan, roots, changes = run_with_job(job, read)
    if json_output:
        print_json(changes)
        return
    for line in plan_change_lines(plan, roots, changes):
        print_text(line)
