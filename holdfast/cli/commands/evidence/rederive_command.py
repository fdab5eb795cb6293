"""Implement `holdfast rederive`: derive a job's decisions again, and print which differ."""

import json

from holdfast.cli.installation_access import run_with_job
from holdfast.cli.render.terminal_output import print_json, print_text
from holdfast.rederivation.job_rederivation import rederive_job
from holdfast.rederivation.rederived_decisions import Outcome, Rederivation, worst_first

EXIT_DIFFERENT = 4
"""The exit code if a decision is different."""


def rederive_command(job: str, *, json_output: bool) -> int:
    """Print the comparison; 0 if no decision is different."""
    result = run_with_job(job, rederive_job)
    if json_output:
        print_json(result)
    else:
        _print_rederivation(result)
    return 0 if result.is_same else EXIT_DIFFERENT


def _print_rederivation(result: Rederivation) -> None:
    for each in worst_first(result.decisions):
        note = f": {each.note}" if each.note else ""
        print_text(f"{each.kind.value} {each.name}: {each.outcome.value}{note}")
        if each.outcome is Outcome.DIFFERENT:
            print_text(f"  stored:  {json.dumps(each.stored, ensure_ascii=False)}")
            print_text(f"  derived: {json.dumps(each.derived, ensure_ascii=False)}")
    counts = ", ".join(f"{number} {name}" for name, number in result.counts.items())
    print_text(f"{len(result.decisions)} decisions derived again: {counts}")
