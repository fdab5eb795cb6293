"""Implement `holdfast fork`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from holdfast.cli.commands.jobs.plan_editor import read_plan_file
from holdfast.cli.installation_access import run_with_job
from holdfast.cli.render.fork_lines import fork_lines
from holdfast.cli.render.terminal_output import print_json, print_text
from holdfast.client import Holdfast
from holdfast.configuration.price_settings import read_prices
from holdfast.jobs.current_user import current_user
from holdfast.records.fork_submission import ForkSubmission
from holdfast.records.job_forking import fork_plan, prepare_fork, start_fork


def fork_command(
    job: str,
    changes: Mapping[str, Any],
    plan: Path | None,
    *,
    dry_run: bool,
    json_output: bool,
) -> None:
    """Print what the fork runs and keeps, and start it."""
    text = None if plan is None else read_plan_file(plan)
    submission = ForkSubmission.model_validate({**changes, "plan": text})

    async def fork(holdfast: Holdfast, job_id: str) -> None:
        by = current_user()
        prepared = await prepare_fork(holdfast, job_id, submission, owner=by, by=by)
        shown = fork_plan(prepared, read_prices(holdfast.settings.config_file))
        if not json_output:
            for line in fork_lines(shown):
                print_text(line)
        if dry_run:
            if json_output:
                print_json(shown)
            return
        forked = await start_fork(holdfast, prepared, by=by)
        if json_output:
            print_json(forked)
        else:
            print_text(
                f"job {forked.job_id} runs; wait for its end with `holdfast wait {forked.job_id}`"
            )

    run_with_job(job, fork, needs_temporal=True)
