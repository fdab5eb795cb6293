"""Implement `holdfast questions` and `holdfast answer`."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from holdfast.cli.commands.jobs.plan_editor import edit_in_editor, plan_to_yaml, read_plan_file
from holdfast.cli.installation_access import run_with_job
from holdfast.cli.options.text_options import read_answer
from holdfast.cli.render.question_lines import answered_question_lines, open_question_lines
from holdfast.cli.render.terminal_output import print_json, print_text
from holdfast.client import Holdfast
from holdfast.jobs.current_user import current_user
from holdfast.jobs.job_controller import JobController
from holdfast.jobs.open_questions import find_open_question, open_questions_of
from holdfast.models.questions.user_questions import UserQuestion
from holdfast.planning.questions.answer_choices import AnswerChoice, parse_answer
from holdfast.storage.plans import task_queries
from holdfast.storage.questions import question_rows


def questions_command(job: str, *, json_output: bool) -> None:
    """Print every question of the job, with its answer and where the answer came from."""

    async def read(holdfast: Holdfast, job_id: str) -> tuple[list[UserQuestion], list[str]]:
        questions = await question_rows.questions_of(holdfast.db, job_id)
        answered = [question for question in questions if not question.is_open]
        waiting = await open_questions_of(holdfast.db, job_id)
        lines = [line for question in answered for line in answered_question_lines(question)]
        lines += [line for question in waiting for line in open_question_lines(question)]
        return questions, lines or [f"job {job_id} has no questions"]

    questions, lines = run_with_job(job, read)
    if json_output:
        print_json(questions)
        return
    for line in lines:
        print_text(line)


def answer_command(job: str, words: Sequence[str], *, json_output: bool) -> None:
    """Answer an open question; without words, print the open questions."""
    if not words:
        questions_command(job, json_output=json_output)
        return
    number, rest = _split_question_number(words)

    async def answer(holdfast: Holdfast, job_id: str) -> UserQuestion:
        question = await find_open_question(holdfast.db, job_id, number)
        choice, text = await _read_choice(holdfast, question, rest)
        await JobController(holdfast, current_user()).answer(job_id, question.id, choice, text)
        return question

    question = run_with_job(job, answer, needs_temporal=True)
    if json_output:
        print_json({"job_id": question.job_id, "question": question.id, "did": "answered"})
        return
    print_text(
        f"question {question.id} is answered; wait for the job with "
        f"`holdfast wait {question.job_id}`"
    )


def _split_question_number(words: Sequence[str]) -> tuple[int | None, list[str]]:
    """The question's number, if the first word is one and an answer follows; and the answer."""
    first, *rest = words
    return (int(first), rest) if first.isdecimal() and rest else (None, list(words))


async def _read_choice(
    holdfast: Holdfast, question: UserQuestion, words: Sequence[str]
) -> tuple[str, str]:
    """The choice and its text; an edited plan comes from the named file or from the editor."""
    if words[0] == AnswerChoice.EDIT and AnswerChoice.EDIT in question.choices:
        return AnswerChoice.EDIT, await _edited_plan(holdfast, question, words[1:])
    return parse_answer(question.kind, read_answer(" ".join(words)))


async def _edited_plan(holdfast: Holdfast, question: UserQuestion, files: Sequence[str]) -> str:
    if files:
        return await asyncio.to_thread(read_plan_file, Path(files[0]))
    plan = await task_queries.load_plan(holdfast.db, question.job_id)
    return await asyncio.to_thread(edit_in_editor, plan_to_yaml(plan))
