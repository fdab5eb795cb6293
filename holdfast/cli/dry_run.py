"""The dry run: a plan and what it would take, with nothing executed."""

import asyncio
from dataclasses import replace

from holdfast.cli.looking import print_plan
from holdfast.cli.money import money, seconds
from holdfast.cli.output import counted, print_json, print_text, printable, say
from holdfast.cli.requests import Wish
from holdfast.cli.running import INTERRUPTED, prepared
from holdfast.client import Holdfast
from holdfast.estimating import dry_run_of
from models.estimates import DryRun, Estimate, RoleEstimate
from models.jobs import JobRequest, StopReason
from models.plan import Plan


def dry_run_command(wish: Wish, *, json_output: bool) -> int:
    """Have the job planned and no more; the exit code is 0 when there is a plan."""

    async def work(holdfast: Holdfast, request: JobRequest) -> int:
        job_id = await holdfast.submit(request)
        say(f"job {job_id}")
        try:
            await holdfast.wait(job_id, or_paused=True)
        except (KeyboardInterrupt, asyncio.CancelledError):
            say(f"\njob {job_id} is planned without you; see `holdfast plan {job_id}`")
            return INTERRUPTED
        outcome = await dry_run_of(holdfast, job_id)
        if json_output:
            print_json(outcome)
        else:
            _print(outcome)
        return 0 if outcome.stop_reason == StopReason.PLANNED else 1

    planned = replace(wish, settings=(*wish.settings, "plan_only=true"))
    return asyncio.run(prepared(planned, work))


def _print(outcome: DryRun) -> None:
    if outcome.stop_reason != StopReason.PLANNED:
        reason = f" ({outcome.stop_reason})" if outcome.stop_reason else ""
        say(f"job {outcome.job_id} {outcome.status}{reason}: {printable(outcome.message)}")
        return
    print_plan(Plan(tasks=outcome.tasks))
    print_text("")
    for line in estimate_lines(outcome.estimate, outcome.currency):
        print_text(line)
    say(f"nothing was executed; have it worked with `holdfast resume {outcome.job_id}`")


def estimate_lines(estimate: Estimate, currency: str) -> list[str]:
    """What the plan would take, in a few lines."""
    all_tokens = estimate.tokens
    sum_of = f"{all_tokens.input:,} in, {all_tokens.output:,} out" if all_tokens else "unknown"
    spent = f"{estimate.spent.input:,} tokens in, {estimate.spent.output:,} out"
    calls = f"{counted(estimate.tool_calls, 'tool call')}, "
    calls += counted(estimate.model_calls, "model call")
    return [
        f"would take: {calls}, tokens: {sum_of}",
        *(f"  {_role_line(each, currency)}" for each in estimate.roles),
        f"cost:       {money(estimate.cost, currency)}, time: {seconds(estimate.seconds)}",
        f"spent:      {spent}, cost {money(estimate.spent_cost, currency)}",
    ]


def _role_line(of: RoleEstimate, currency: str) -> str:
    made = f"{of.role:<12} {counted(of.calls, 'call')}"
    if of.input_tokens is None or of.output_tokens is None:
        return f"{made}, tokens unknown: none was made with this model yet"
    return (
        f"{made}, {of.input_tokens:,} tokens in, {of.output_tokens:,} out, "
        f"cost {money(of.cost, currency)} (as {counted(of.seen, 'earlier call')})"
    )
