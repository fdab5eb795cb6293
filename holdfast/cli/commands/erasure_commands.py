"""Implement `holdfast erase` and `holdfast erasures`."""

from holdfast.cli.installation_access import run_with_client, run_with_job
from holdfast.cli.render.plain_table import plain_table
from holdfast.cli.render.terminal_output import console, count_with_noun, print_json, print_text
from holdfast.client import Holdfast
from holdfast.jobs.current_user import current_user
from holdfast.jobs.erasure import erase_job, erase_owner
from holdfast.models.access.erasures import ErasureReceipt
from holdfast.models.errors import BadInput
from holdfast.storage.jobs.erasure_rows import load_receipts


def erase_command(
    job: str | None, owner: str | None, *, with_follow_ups: bool, json_output: bool
) -> None:
    """Erase the job, or everything of the owner, and print the receipt."""
    if (job is None) == (owner is None):
        raise BadInput("name either a job or `--owner NAME`")
    by = current_user()

    async def erase_one(holdfast: Holdfast, job_id: str) -> ErasureReceipt:
        return await erase_job(holdfast, job_id, by=by, with_follow_ups=with_follow_ups)

    async def erase_all(holdfast: Holdfast) -> ErasureReceipt:
        return await erase_owner(holdfast, owner or "", by=by)

    if job is not None:
        receipt = run_with_job(job, erase_one, needs_temporal=True)
    else:
        receipt = run_with_client(erase_all)
    if json_output:
        print_json(receipt)
    else:
        _print_receipt(receipt)


def erasures_command(limit: int, *, json_output: bool) -> None:
    """Print the newest receipts."""
    receipts = run_with_client(lambda holdfast: load_receipts(holdfast.db, limit))
    if json_output:
        print_json(receipts)
        return
    rows = [
        (
            each.id,
            f"{each.begun_at:%Y-%m-%d %H:%M}",
            f"{each.kind.value} {each.subject}",
            each.erased_by,
            len(each.jobs),
            sum(each.rows.values()),
            len(each.workflow_runs),
            "done" if each.ended_at else "interrupted; erase again",
        )
        for each in receipts
    ]
    columns = ("receipt", "begun", "erased", "by", "jobs", "rows", "histories", "")
    console().print(plain_table(columns, rows))


def _print_receipt(receipt: ErasureReceipt) -> None:
    print_text(
        f"{receipt.id}: erased {receipt.kind.value} {receipt.subject}: "
        f"{count_with_noun(len(receipt.jobs), 'job')}, "
        f"{count_with_noun(sum(receipt.rows.values()), 'row')}, "
        f"{count_with_noun(len(receipt.workflow_runs), 'history', 'histories')} in Temporal, "
        f"{count_with_noun(receipt.upload_folders, 'folder')} of uploads"
    )
    for name, rows in sorted(receipt.rows.items()):
        print_text(f"  {name}: {rows:,}")
    if receipt.shared_sources:
        stay = count_with_noun(receipt.shared_sources, "passage stays", "passages stay")
        print_text(f"{stay}, because other jobs read the same")
    if receipt.dependent_jobs:
        print_text(
            f"these jobs of other owners follow an erased job: {', '.join(receipt.dependent_jobs)}"
        )
