"""`holdfast recheck`: what became of the words that a report cites, where they were read."""

import asyncio
import logging

from holdfast.builtin import builtin_servers
from holdfast.cli.installation import attached
from holdfast.cli.output import console, print_json, print_text, printable, short, table
from holdfast.cli.requests import who_asks
from holdfast.logs import configure_logs
from holdfast.rechecking import CitationCheck, Recheck, recheck
from storage.corpus import Corpus
from tools.config import read_servers
from tools.hub import Hub

DRIFTED = 4
"""The exit code where a cited passage is not, or not provably, as it was."""


def recheck_command(job_id: str, *, json_output: bool) -> int:
    if not logging.getLogger().handlers:
        configure_logs("ERROR")  # else an MCP server in this process would log in its own way
    found = asyncio.run(_recheck(job_id))
    if json_output:
        print_json({"job_id": found.job_id, "counts": found.counts, "checks": [
            each.model_dump(mode="json") for each in found.checks
        ]})  # fmt: skip
    else:
        _print(found)
    return 0 if found.is_unchanged else DRIFTED


async def _recheck(job_id: str) -> Recheck:
    async with attached(needs_temporal=False) as holdfast:
        settings, db = holdfast.settings, holdfast.db
        servers = read_servers(settings.config_file) if settings.config_file else {}
        async with builtin_servers(settings, Corpus(db)) as builtin, Hub(servers, builtin) as hub:
            return await recheck(holdfast, hub, job_id, by=who_asks())


def _print(found: Recheck) -> None:
    if not found.checks:
        print_text("the report cites nothing")
        return
    rows = [
        (f"[{each.mark}]", each.verdict.value, each.address, short(each.note, 120))
        for each in found.checks
    ]
    console().print(table(("mark", "words", "address", "what was found"), rows))
    for each in found.checks:
        for line in _differences(each):
            print_text(printable(line))
    lost = [each for each in found.checks if each.nearest or each.verdict.value == "gone"]
    if lost:
        first = lost[0].evidence_id
        print_text(
            f"\nThe report stays as it is. `holdfast retract {found.job_id} {first} --reason ...` "
            "takes back what does not hold any more, and names what rests on it."
        )


def _differences(check: CitationCheck) -> list[str]:
    if not check.nearest:
        return []
    return [
        f"\n[{check.mark}] it said:  {short(check.quote, 400)}",
        f"    now:      {short(check.nearest, 400)}",
    ]
