"""The commands that show a job's questions and answer them."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from holdfast.asked import asked_of, the_question
from holdfast.cli.editing import as_text, edited_by_hand, read_file
from holdfast.cli.installation import ask, attached
from holdfast.cli.output import print_json, print_text, printable
from holdfast.cli.question_lines import answered_lines, question_lines
from holdfast.cli.requests import checked_answer, who_asks
from holdfast.client import Holdfast
from holdfast.control import Controller
from models.questions import Question
from models.status import Waits
from planning.answers import Choice, read_answer
from storage import jobs, plans, questions


def questions_command(job_id: str, *, json_output: bool) -> None:
    """Every question of the job, with its answer and where that came from."""

    async def read(holdfast: Holdfast) -> tuple[list[Question], tuple[Waits, ...]]:
        await jobs.load(holdfast.db, job_id)
        found = await questions.questions_of(holdfast.db, job_id)
        return found, await asked_of(holdfast.db, job_id)

    found, waiting = ask(read)
    if json_output:
        print_json(found)
        return
    lines = [line for each in found if not each.is_open for line in answered_lines(each)]
    lines += [line for each in waiting for line in question_lines(each)]
    for line in lines or [f"job {job_id} asked nothing"]:
        print_text(printable(line))


def answer_command(job_id: str, words: Sequence[str], *, json_output: bool) -> None:
    """Answer an open question; without words, show what is asked."""
    if not words:
        questions_command(job_id, json_output=json_output)
        return
    number, rest = _numbered(words)

    async def answer() -> Question:
        async with attached() as holdfast:
            asked = await the_question(holdfast.db, job_id, number)
            choice, said = await _said(holdfast, asked, rest)
            await Controller(holdfast, who_asks()).answer(job_id, asked.id, choice, said)
            return asked

    asked = asyncio.run(answer())
    if json_output:
        print_json({"job_id": job_id, "question": asked.id, "did": "answered"})
    else:
        print_text(f"question {asked.id} is answered; see it through with `holdfast wait {job_id}`")


def _numbered(words: Sequence[str]) -> tuple[int | None, list[str]]:
    """A first word of digits is the question's number, where an answer comes behind it."""
    first, *rest = words
    return (int(first), rest) if first.isdecimal() and rest else (None, list(words))


async def _said(holdfast: Holdfast, asked: Question, words: Sequence[str]) -> tuple[str, str]:
    """The choice and the words; a plan is read from the file that is named, or edited by hand."""
    if words[0] == Choice.EDIT and Choice.EDIT in asked.choices:
        return Choice.EDIT, await _plan(holdfast, asked, words[1:])
    text = " ".join(words)
    return read_answer(asked.kind, checked_answer(text))


async def _plan(holdfast: Holdfast, asked: Question, files: Sequence[str]) -> str:
    if files:
        return await asyncio.to_thread(read_file, Path(files[0]))
    stored = await plans.load_plan(holdfast.db, asked.job_id)
    return await asyncio.to_thread(edited_by_hand, as_text(stored))
