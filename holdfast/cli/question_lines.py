"""Questions as a person reads them; times are local."""

from collections.abc import Iterator

from holdfast.cli.output import short
from models.questions import Question
from models.status import Waits


def question_lines(asked: Waits) -> Iterator[str]:
    """A question that waits: when its default is taken, and the command that answers it."""
    of_task = f" of {asked.task}" if asked.task else ""
    yield f"asked:    {asked.id} ({asked.kind}{of_task}) {short(asked.text, 300)}"
    if asked.deadline is not None:
        at = f"{asked.deadline.astimezone():%Y-%m-%d %H:%M:%S}"
        default = short(asked.default or "go on without it", 120)
        yield f"          unanswered at {at}, it is answered: {default}"
    yield f"          answer with `{asked.answer_with}`"


def answered_lines(asked: Question) -> Iterator[str]:
    """A question that was answered: by whom or what, and who was asked before."""
    of_task = f" of {asked.task_id}" if asked.task_id else ""
    by = f" by {asked.answered_by}" if asked.answered_by else ""
    origin = asked.origin.value if asked.origin else ""
    yield f"answered: {asked.id} ({asked.kind.value}{of_task}) {short(asked.text, 300)}"
    yield f"          {short(asked.answer or '', 300)} (from {origin}{by})"
    for step in asked.trail:
        yield f"          before: {short(step, 200)}"
