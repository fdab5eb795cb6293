"""Implement `holdfast compare`."""

import asyncio

from holdfast.cli.installation_access import open_installation
from holdfast.cli.render.comparison_lines import comparison_lines
from holdfast.cli.render.terminal_output import print_json, print_text
from holdfast.jobs.job_lookup import find_job_id
from holdfast.records.job_comparison import JobComparison, compare_jobs


def compare_command(first: str, second: str, *, model: str | None, json_output: bool) -> None:
    """Print the comparison of two jobs; a model may match claims that rules left over."""

    async def compare() -> JobComparison:
        async with open_installation(needs_temporal=False) as holdfast:
            ids = [await find_job_id(holdfast.db, each) for each in (first, second)]
            return await compare_jobs(holdfast, ids[0], ids[1], model=model)

    found = asyncio.run(compare())
    if json_output:
        print_json(found)
        return
    for line in comparison_lines(found):
        print_text(line)
