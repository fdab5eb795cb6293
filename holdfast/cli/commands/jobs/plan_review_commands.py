"""Implement `holdfast run --review`: ask for approval or an edit before the plan runs."""

import asyncio
import sys
from collections.abc import Callable

from holdfast.cli.commands.jobs.dry_run_commands import print_plan_with_estimate
from holdfast.cli.commands.jobs.job_preparation import EXIT_INTERRUPTED, prepare_and_run
from holdfast.cli.commands.jobs.job_watch import watch_job
from holdfast.cli.commands.jobs.plan_editor import edit_in_editor, plan_to_yaml
from holdfast.cli.options.run_options import CheckedRun
from holdfast.cli.render.question_lines import open_question_lines
from holdfast.cli.render.terminal_output import print_json, print_progress
from holdfast.client import Holdfast
from holdfast.jobs.current_user import current_user
from holdfast.jobs.dry_run_estimate import dry_run_of
from holdfast.jobs.job_controller import JobController
from holdfast.jobs.open_questions import open_questions_of, wait_for_approval_question
from holdfast.models.errors import BadInput
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.plans.research_plan import Plan
from holdfast.models.questions.user_questions import UserQuestion
from holdfast.planning.questions.answer_choices import AnswerChoice, parse_answer
from holdfast.storage.plans import task_queries

_PROMPT = "approve, edit, refuse [why] or revise WHAT? "
_EXIT_FAILED = 1


def review_command(checked: CheckedRun, *, waits: bool, json_output: bool) -> int:
    """Plan the job, review its plan, and run it; 0 when the job is done."""

    async def submit(holdfast: Holdfast, request: JobRequest) -> int:
        job_id = await holdfast.submit(request)
        print_progress(f"job {job_id}")
        try:
            question = await wait_for_approval_question(holdfast, job_id)
            if question is not None:
                is_shown = not json_output
                asks = waits and is_shown and sys.stdin.isatty()
                await _review(holdfast, question, is_shown=is_shown, asks=asks)
        except (KeyboardInterrupt, asyncio.CancelledError):
            print_progress(
                f"\njob {job_id} waits for you; come back with `holdfast answer {job_id}`"
            )
            return EXIT_INTERRUPTED
        if waits:
            return await watch_job(holdfast, job_id, json_output=json_output)
        if json_output:
            print_json({"job_id": job_id, "question": question.id if question else None})
        return _EXIT_FAILED if question is None else 0

    return prepare_and_run(checked, submit)


async def _review(
    holdfast: Holdfast, question: UserQuestion, *, is_shown: bool, asks: bool
) -> None:
    """Show the plan, and ask for a decision here, or print the command that answers."""
    if is_shown:
        await _show_plan(holdfast, question.job_id)
    if asks and await review_plan(holdfast, question, input):
        return
    for waiting in await open_questions_of(holdfast.db, question.job_id):
        for line in open_question_lines(waiting):
            print_progress(line)


async def review_plan(
    holdfast: Holdfast, question: UserQuestion, ask: Callable[[str], str]
) -> bool:
    """True if the plan was decided about.

    `ask` prints a prompt and returns the typed line; it raises EOFError at the end of the input.
    """
    controller, draft = JobController(holdfast, current_user()), ""
    latest: UserQuestion | None = question
    while latest is not None:
        try:
            typed = await asyncio.to_thread(ask, _PROMPT)
            choice, words = parse_answer(latest.kind, _with_words(typed))
            if choice == AnswerChoice.EDIT:
                plan = await task_queries.load_plan(holdfast.db, question.job_id)
                words = draft = await asyncio.to_thread(edit_in_editor, draft or plan_to_yaml(plan))
            await controller.answer(question.job_id, latest.id, choice, words)
        except EOFError:
            return False
        except BadInput as error:
            for fault in str(error).split("; "):
                print_progress(fault)
            continue
        latest, draft = await _next_approval_question(holdfast, latest, choice), ""
    return True


def _with_words(typed: str) -> str:
    """The typed line; `edit` needs words, which come from the editor later."""
    return f"{AnswerChoice.EDIT} plan" if typed.strip() == AnswerChoice.EDIT else typed


async def _next_approval_question(
    holdfast: Holdfast, question: UserQuestion, choice: str
) -> UserQuestion | None:
    """The question about the new plan, if a new plan was asked for."""
    if choice != AnswerChoice.REVISE:
        return None
    latest = await wait_for_approval_question(holdfast, question.job_id)
    if latest is not None:
        await _show_plan(holdfast, question.job_id)
    return latest


async def _show_plan(holdfast: Holdfast, job_id: str) -> None:
    """Print the plan and its estimate to standard output."""
    estimated = await dry_run_of(holdfast, job_id)
    print_plan_with_estimate(Plan(tasks=Plan(tasks=estimated.tasks).live), estimated)
