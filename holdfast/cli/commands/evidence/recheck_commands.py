"""Implement `holdfast recheck`: read the cited sources again and print what changed."""

from holdfast.cli.installation_access import run_with_job
from holdfast.cli.options.current_user import current_user
from holdfast.cli.render.evidence.recheck_lines import difference_lines, recheck_table
from holdfast.cli.render.terminal_output import console, print_json, print_text
from holdfast.client import Holdfast
from holdfast.configuration.builtin_tool_servers import open_builtin_servers
from holdfast.configuration.json_logs import configure_quiet_logs
from holdfast.evidence.source_recheck import RecheckResult, recheck_sources
from holdfast.storage.corpus.corpus_store import CorpusStore
from holdfast.tools.mcp.server_config import read_servers
from holdfast.tools.mcp.tool_hub import Hub

EXIT_DRIFTED = 4
"""The exit code if a quote has changed, or cannot be shown to be the same."""


def recheck_command(job: str, *, json_output: bool) -> int:
    """Check the cited sources; 0 if every quote is unchanged."""
    configure_quiet_logs()
    result = run_with_job(job, _recheck)
    if json_output:
        print_json(
            {
                "job_id": result.job_id,
                "counts": result.counts,
                "checks": [check.model_dump(mode="json") for check in result.checks],
            }
        )
    else:
        _print_recheck(result)
    return 0 if result.is_unchanged else EXIT_DRIFTED


async def _recheck(holdfast: Holdfast, job_id: str) -> RecheckResult:
    settings = holdfast.settings
    servers = read_servers(settings.config_file) if settings.config_file else {}
    async with (
        open_builtin_servers(settings, CorpusStore(holdfast.db)) as builtin,
        Hub(servers, builtin) as hub,
    ):
        return await recheck_sources(holdfast, hub, job_id, by=current_user())


def _print_recheck(result: RecheckResult) -> None:
    if not result.checks:
        print_text("the report cites nothing")
        return
    console().print(recheck_table(result))
    for line in difference_lines(result):
        print_text(line)
