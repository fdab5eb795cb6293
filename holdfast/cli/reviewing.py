"""`holdfast run --review`: the plan is shown, and edited, approved or refused before it runs."""

import asyncio
import sys
from collections.abc import Callable
from dataclasses import replace

from holdfast.asked import asked_of, until_planned
from holdfast.cli.dry_run import estimate_lines
from holdfast.cli.editing import as_text, edited_by_hand
from holdfast.cli.looking import print_plan
from holdfast.cli.output import print_json, print_text, say
from holdfast.cli.question_lines import question_lines
from holdfast.cli.requests import Wish, who_asks
from holdfast.cli.running import INTERRUPTED, prepared, watched
from holdfast.client import Holdfast
from holdfast.control import Controller
from holdfast.estimating import dry_run_of
from models.errors import BadInput
from models.jobs import JobRequest
from models.plan import Plan
from models.questions import Question
from planning.answers import Choice, read_answer
from storage import plans

_ASKS = "approve, edit, refuse [why] or revise WHAT? "
_FAILED = 1


def review_command(wish: Wish, *, waits: bool, json_output: bool) -> int:
    """Have the job planned, its plan approved, and the job worked; 0 when it is done."""

    async def work(holdfast: Holdfast, request: JobRequest) -> int:
        job_id = await holdfast.submit(request)
        say(f"job {job_id}")
        try:
            asked = await until_planned(holdfast, job_id)
            if asked is not None:
                is_shown = not json_output
                asks = waits and is_shown and sys.stdin.isatty()
                await _review(holdfast, asked, is_shown=is_shown, asks=asks)
        except (KeyboardInterrupt, asyncio.CancelledError):
            say(f"\njob {job_id} waits for you; come back with `holdfast answer {job_id}`")
            return INTERRUPTED
        if waits:
            return await watched(holdfast, job_id, json_output=json_output)
        if json_output:
            print_json({"job_id": job_id, "question": asked.id if asked else None})
        return _FAILED if asked is None else 0

    reviewed = replace(wish, settings=(*wish.settings, "review=true"))
    return asyncio.run(prepared(reviewed, work))


async def _review(holdfast: Holdfast, asked: Question, *, is_shown: bool, asks: bool) -> None:
    """Show the plan, and have it decided about here, or say how that is done from elsewhere."""
    if is_shown:
        await _show(holdfast, asked.job_id)
    if asks and await reviewed(holdfast, asked, input):
        return
    for waiting in await asked_of(holdfast.db, asked.job_id):
        for line in question_lines(waiting):
            say(line)


async def reviewed(holdfast: Holdfast, asked: Question, ask: Callable[[str], str]) -> bool:
    """Whether the plan was decided about; `ask` gives what somebody types, or an end of file."""
    controller, draft = Controller(holdfast, who_asks()), ""
    latest: Question | None = asked
    while latest is not None:
        try:
            choice, words = read_answer(
                latest.kind, _with_words(await asyncio.to_thread(ask, _ASKS))
            )
            if choice == Choice.EDIT:
                draft = draft or as_text(await plans.load_plan(holdfast.db, asked.job_id))
                words = draft = await asyncio.to_thread(edited_by_hand, draft)
            await controller.answer(asked.job_id, latest.id, choice, words)
        except EOFError:
            return False
        except BadInput as error:
            for fault in str(error).split("; "):
                say(fault)
            continue
        latest, draft = await _asked_next(holdfast, latest, choice), ""
    return True


def _with_words(typed: str) -> str:
    """`edit` has its words, the plan, from the editor."""
    return f"{Choice.EDIT} plan" if typed.strip() == Choice.EDIT else typed


async def _asked_next(holdfast: Holdfast, asked: Question, choice: str) -> Question | None:
    """A plan that is made anew is asked about anew."""
    if choice != Choice.REVISE:
        return None
    latest = await until_planned(holdfast, asked.job_id)
    if latest is not None:
        await _show(holdfast, asked.job_id)
    return latest


async def _show(holdfast: Holdfast, job_id: str) -> None:
    """The plan with what it would take; on standard error nothing but hints."""
    would_take = await dry_run_of(holdfast, job_id)
    print_plan(Plan(tasks=Plan(tasks=would_take.tasks).live))
    print_text("")
    for line in estimate_lines(would_take.estimate, would_take.currency):
        print_text(line)
