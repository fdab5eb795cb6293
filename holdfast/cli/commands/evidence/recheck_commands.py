"""Implement `holdfast recheck`: read the cited sources again and print what changed."""

from pathlib import Path

from holdfast.cli.installation_access import run_with_job
from holdfast.cli.render.evidence.recheck_lines import difference_lines, recheck_table
from holdfast.cli.render.terminal_output import console, print_json, print_text
from holdfast.client import Holdfast
from holdfast.configuration.json_logs import configure_quiet_logs
from holdfast.corpus.folder_rereading import folder_line
from holdfast.evidence.document_recheck import recheck_document
from holdfast.evidence.source_recheck import DocumentRecheck, RecheckResult, recheck_job
from holdfast.jobs.current_user import current_user
from holdfast.reports.exports.word_document import read_quoted_document

EXIT_DRIFTED = 4
"""The exit code if a quote has changed, or cannot be shown to be the same."""


def recheck_command(job: str, *, json_output: bool) -> int:
    """Check the cited sources; 0 if every quote is unchanged."""
    configure_quiet_logs()
    by = current_user()
    result = run_with_job(job, lambda holdfast, job_id: recheck_job(holdfast, job_id, by=by))
    if json_output:
        print_json(result)
    else:
        _print_recheck(result)
    return 0 if result.is_unchanged else EXIT_DRIFTED


def recheck_document_command(file: str, *, json_output: bool) -> int:
    """Check the quotes of a Word document, and their sources; 0 if every quote is unchanged."""
    configure_quiet_logs()
    by = current_user()
    document = read_quoted_document(Path(file))

    async def check(holdfast: Holdfast, job_id: str) -> DocumentRecheck:
        return await recheck_document(holdfast, job_id, document, by=by)

    result = run_with_job(document.job_id, check)
    if json_output:
        print_json(result)
        return 0 if result.is_unchanged else EXIT_DRIFTED
    _print_recheck(result)
    for mark in result.altered:
        print_text(f"[{mark}] the quote in {file} is not the one of the report")
    return 0 if result.is_unchanged else EXIT_DRIFTED


def _print_recheck(result: RecheckResult) -> None:
    for folder in result.folders:
        print_text(folder_line(folder))
    if not result.checks:
        print_text("the report cites nothing")
        return
    console().print(recheck_table(result))
    for line in difference_lines(result):
        print_text(line)
