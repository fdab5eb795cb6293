"""Implement `holdfast run --dry-run`: plan a job and print the estimate; run nothing."""

import asyncio

from holdfast.cli.commands.jobs.job_preparation import EXIT_INTERRUPTED, prepare_and_run
from holdfast.cli.options.run_options import CheckedRun
from holdfast.cli.render.estimate_lines import estimate_lines
from holdfast.cli.render.plan_lines import plan_table
from holdfast.cli.render.terminal_output import console, print_json, print_progress, print_text
from holdfast.client import Holdfast
from holdfast.jobs.dry_run_estimate import dry_run_of
from holdfast.jobs.record_in_words import state_with_ending
from holdfast.models.budget.cost_estimates import DryRun
from holdfast.models.jobs.job_record import JobRequest, StopReason
from holdfast.models.plans.research_plan import Plan


def dry_run_command(checked: CheckedRun, *, json_output: bool) -> int:
    """Plan the job and print the plan with its estimate; 0 when there is a plan."""

    async def submit(holdfast: Holdfast, request: JobRequest) -> int:
        job_id = await holdfast.submit(request)
        print_progress(f"job {job_id}")
        try:
            await holdfast.wait(job_id, or_paused=True)
        except (KeyboardInterrupt, asyncio.CancelledError):
            print_progress(f"\nplanning of job {job_id} continues; see `holdfast plan {job_id}`")
            return EXIT_INTERRUPTED
        outcome = await dry_run_of(holdfast, job_id)
        if json_output:
            print_json(outcome)
        else:
            _print_dry_run(outcome)
        return 0 if outcome.stop_reason == StopReason.PLANNED else 1

    return prepare_and_run(checked, submit)


def _print_dry_run(outcome: DryRun) -> None:
    if outcome.stop_reason != StopReason.PLANNED:
        state = state_with_ending(outcome.status, outcome.stop_reason)
        print_progress(f"job {outcome.job_id} {state}: {outcome.message}")
        return
    print_plan_with_estimate(Plan(tasks=outcome.tasks), outcome)
    print_progress(f"no task was run; run the plan with `holdfast resume {outcome.job_id}`")


def print_plan_with_estimate(plan: Plan, outcome: DryRun) -> None:
    """Print the plan as a table, and below it what it would take."""
    console().print(plan_table(plan))
    print_text("")
    for line in estimate_lines(outcome.estimate, outcome.currency):
        print_text(line)
