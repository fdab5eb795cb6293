"""Format open and answered questions of a job as lines of text."""

from collections.abc import Iterator

from holdfast.cli.render.terminal_output import shortened_line
from holdfast.models.questions.user_questions import QuestionKind, UserQuestion
from holdfast.models.views.status_views import WaitingQuestion

_BUDGET_WAYS = (
    "          `raise N` sets the cap to N and goes on; where two caps are set, write",
    "          `raise max_cost=N` or `raise max_tokens=N`; `report` writes up what was found;",
    "          `stop` ends the job without a report",
)


def open_question_lines(question: WaitingQuestion) -> Iterator[str]:
    """An open question: when its default is taken, and the command that answers it."""
    of_task = f" of {question.task}" if question.task else ""
    text = shortened_line(question.text, 300)
    yield f"asked:    {question.id} ({question.kind}{of_task}) {text}"
    if question.deadline is not None:
        at = f"{question.deadline.astimezone():%Y-%m-%d %H:%M:%S}"
        default = shortened_line(question.default or "continue without an answer", 120)
        yield f"          without an answer until {at} the default is taken: {default}"
    yield f"          answer with `{question.answer_with}`"
    if question.kind == QuestionKind.BUDGET:
        yield from _BUDGET_WAYS


def answered_question_lines(question: UserQuestion) -> Iterator[str]:
    """An answered question: where the answer came from, and who was asked before."""
    of_task = f" of {question.task_id}" if question.task_id else ""
    by = f" by {question.answered_by}" if question.answered_by else ""
    origin = question.origin.value if question.origin else ""
    text = shortened_line(question.text, 300)
    yield f"answered: {question.id} ({question.kind.value}{of_task}) {text}"
    yield f"          {shortened_line(question.answer or '', 300)} (from {origin}{by})"
    for step in question.trail:
        yield f"          before: {shortened_line(step, 200)}"
