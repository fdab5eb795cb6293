"""Implement `holdfast update`."""

from datetime import timedelta

from holdfast.cli.installation_access import run_with_job
from holdfast.cli.render.fork_lines import fork_lines
from holdfast.cli.render.terminal_output import print_json, print_text, shortened_line
from holdfast.client import Holdfast
from holdfast.corpus.folder_rereading import folder_line
from holdfast.jobs.current_user import current_user
from holdfast.records.job_update import JobUpdate, update_job

_MAX_TEXT = 300


def update_command(
    job: str, older_than: timedelta | None, *, search: bool, dry_run: bool, json_output: bool
) -> None:
    """Update the report of the job, and print what changed."""

    async def update(holdfast: Holdfast, job_id: str) -> JobUpdate:
        by = current_user()
        return await update_job(
            holdfast,
            job_id,
            owner=by,
            by=by,
            older_than=older_than,
            searches_again=search,
            is_dry_run=dry_run,
        )

    updated = run_with_job(job, update, needs_temporal=True)
    if json_output:
        print_json(updated)
        return
    _print_update(updated)


def _print_update(updated: JobUpdate) -> None:
    for folder in updated.folders:
        print_text(folder_line(folder))
    print_text(f"{updated.updated_job}: {updated.note}")
    for check in updated.changed:
        print_text(f"[{check.mark}] {check.verdict.value}: {shortened_line(check.address, 120)}")
        print_text(f"    quote: {shortened_line(check.quote, _MAX_TEXT)}")
        if check.nearest_text:
            print_text(f"    now:   {shortened_line(check.nearest_text, _MAX_TEXT)}")
    for line in fork_lines(updated.fork) if updated.fork else ():
        print_text(line)
    if updated.job_id:
        new = updated.job_id
        print_text(
            f"job {new} runs; wait for it with `holdfast wait {new}`, then see what changed with "
            f"`holdfast compare {updated.updated_job} {new}`"
        )
