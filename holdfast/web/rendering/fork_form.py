"""Read the form that changes a job in a fork."""

from typing import Annotated

from pydantic import Field, ValidationError

from holdfast.models.errors import BadInput
from holdfast.models.frozen_model import Frozen
from holdfast.planning.plans.plan_edits import MAX_PLAN_CHARS
from holdfast.planning.strategies.written_settings import parse_setting_changes
from holdfast.records.fork_submission import ForkSubmission
from holdfast.web.rendering.amounts import short_number

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
        plan = self.plan.replace("\r\n", "\n").strip()
        lines = [line for line in self.settings.splitlines() if line.strip()]
        try:
            return ForkSubmission(
                tasks=self.tasks,
                settings=parse_setting_changes(lines),
                model=self.model.strip() or None,
                preset=self.preset.strip() or None,
                plan=plan if plan and plan != stored_plan.strip() else None,
                retract=_evidence_numbers(self.retract),
            )
        except ValidationError as error:
            fault = error.errors()[0]
            raise BadInput(f"{fault['loc'][0]}: {fault['msg'].lower()}") from error


def _evidence_numbers(text: str) -> tuple[int, ...]:
    words = tuple(dict.fromkeys(text.replace(",", " ").split()))
    for word in words:
        if short_number(word, _MAX_DIGITS) is None:
            raise BadInput(f"evidence {word[:40]!r} is no number; a cited passage shows its number")
    return tuple(map(int, words))
