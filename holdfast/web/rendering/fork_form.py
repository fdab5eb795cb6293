"""Read the form that changes a job in a fork."""

from typing import Annotated

from pydantic import Field, ValidationError

from holdfast.jobs.record_in_words import model_name
from holdfast.models.errors import BadInput
from holdfast.models.frozen_model import Frozen
from holdfast.planning.plans.plan_edits import MAX_PLAN_CHARS
from holdfast.planning.strategies.written_settings import parse_setting_changes
from holdfast.records.fork_submission import ForkSubmission
from holdfast.web.rendering.amounts import short_number
from holdfast.web.rendering.methods import method
from holdfast.web.rendering.shown_text import shown_text, with_kept_lines

_MAX_TASKS = 200
_MAX_CHARS = 20_000
_MAX_DIGITS = 19

Text = Annotated[str, Field(max_length=_MAX_CHARS)]


class ForkForm(Frozen):
    """The form as its user filled it in."""

    task: tuple[Text, ...] = Field(default=(), max_length=_MAX_TASKS)
    """Ids of tasks, several in one text with a space between."""
    model: Text = ""
    preset: Text = ""
    """Empty: as in the forked job."""
    settings: Text = ""
    """A line each, as NAME=VALUE."""
    retract: Text = ""
    """Numbers of evidence, with a space or a comma between."""
    plan: str = Field(default="", max_length=MAX_PLAN_CHARS)
    confirmed: Text = ""

    @property
    def tasks(self) -> tuple[str, ...]:
        """The ids of the named tasks, each once."""
        return tuple(dict.fromkeys(name for each in self.task for name in each.split()))

    def submission(self, stored_plan: str) -> ForkSubmission:
        """What the fork changes; a plan as it is stored changes nothing.

        Raises:
            BadInput: a field cannot be used.
        """
        try:
            return ForkSubmission(
                tasks=self.tasks,
                settings=parse_setting_changes(self._setting_lines),
                model=self.model.strip() or None,
                preset=self.preset.strip() or None,
                plan=self.edited_plan(stored_plan),
                retract=_evidence_numbers(self.retract),
            )
        except ValidationError as error:
            fault = error.errors()[0]
            raise BadInput(f"{fault['loc'][0]}: {fault['msg'].lower()}") from error

    def edited_plan(self, stored_plan: str) -> str | None:
        """The plan that was written; None if it is the stored one, as the form showed it.

        Lines that stayed as they were shown are as they are stored: a page shows a text without
        signs that nobody sees, and a task without them would be another one, and paid again.
        """
        plan = self.plan.replace("\r\n", "\n").strip()
        is_edited = bool(plan) and plan != shown_text(stored_plan).strip()
        kept = with_kept_lines(plan, stored_plan)
        return kept if is_edited and kept != stored_plan.strip() else None

    def changes_in_words(self, stored_plan: str) -> tuple[str, ...]:
        """What is changed besides the tasks that were chosen, as the page says it.

        Raises:
            BadInput: the numbers of the quotes cannot be used.
        """
        model, preset = self.model.strip(), self.preset.strip()
        return (
            *([f"the model is {model_name(model)}"] if model else []),
            *([f"the method is {method(preset).title}"] if preset else []),
            *self._setting_lines,
            *(["the plan was edited"] if self.edited_plan(stored_plan) else []),
            *(f"quote {number} is left out" for number in _evidence_numbers(self.retract)),
        )

    @property
    def _setting_lines(self) -> list[str]:
        return [line.strip() for line in self.settings.splitlines() if line.strip()]


def _evidence_numbers(text: str) -> tuple[int, ...]:
    words = tuple(dict.fromkeys(text.replace(",", " ").split()))
    for word in words:
        if short_number(word, _MAX_DIGITS) is None:
            raise BadInput(f"quote {word[:40]!r} is no number; a cited passage shows its number")
    return tuple(map(int, words))
