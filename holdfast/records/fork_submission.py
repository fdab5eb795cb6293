"""Define what a person changes in a fork, and what a fork runs, keeps and may cost."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, JsonValue

from holdfast.models.budget.token_prices import Money
from holdfast.models.errors import BadInput
from holdfast.models.frozen_model import Frozen

MODEL_SETTING = "model"
"""`--set model=NAME` names the model as `--model NAME` does."""


class ForkSubmission(Frozen):
    """What a fork changes; every call whose request stays the same is answered from the record."""

    tasks: tuple[str, ...] = Field(
        default=(),
        max_length=200,
        description="The tasks that run again, by id; with nothing else changed, their calls are "
        "sent again.",
    )
    settings: Mapping[str, JsonValue] = Field(
        default_factory=dict, description="Changed settings of the job, by name."
    )
    model: str | None = Field(default=None, description="Another model for all roles.")
    preset: str | None = Field(default=None, description="Another preset.")
    questions: Mapping[str, str] = Field(
        default_factory=dict, description="Other descriptions of tasks, by the task's id."
    )
    plan: str | None = Field(
        default=None,
        description="The edited plan in YAML, in the form that `GET /v1/jobs/JOB/plan.yaml` "
        "gives; all tasks that stay are in it.",
    )
    retract: tuple[Annotated[int, Field(strict=True, ge=1, le=2**63 - 1)], ...] = Field(
        default=(), max_length=200, description="Evidence that counts for nothing in the fork."
    )

    @property
    def with_model_setting(self) -> "ForkSubmission":
        """The submission with its model in `model`, also if it was given as a setting."""
        settings = dict(self.settings)
        named = settings.pop(MODEL_SETTING, None)
        if named is None:
            return self
        if self.model is not None:
            raise BadInput(
                "the model is given twice; leave out `model` among the settings",
                field=f"settings.{MODEL_SETTING}",
            )
        return self.model_copy(update={"settings": settings, "model": str(named)})

    @property
    def changes_settings(self) -> bool:
        """True if the fork works otherwise: by its settings, its model or its preset."""
        return bool(self.settings) or self.model is not None or self.preset is not None

    @property
    def changes_plan(self) -> bool:
        """True if the fork has another plan."""
        return bool(self.questions) or self.plan is not None

    @property
    def in_words(self) -> tuple[str, ...]:
        """What is changed, a line each."""
        lines = [f"{name} = {value}" for name, value in self.settings.items()]
        lines += [f"model = {self.model}"] if self.model is not None else []
        lines += [f"preset = {self.preset}"] if self.preset is not None else []
        lines += [f"the question of {name}: {words}" for name, words in self.questions.items()]
        lines += ["the plan was edited"] if self.plan is not None else []
        lines += [f"evidence {number} is retracted" for number in self.retract]
        return tuple(line[:300] for line in lines)


class ForkedTask(Frozen):
    """A task that runs in a fork, with what it took in the forked job."""

    task: str
    description: str
    why: str
    """changed, downstream, unfinished, or added."""
    calls: int = 0
    """Model calls, at most: a call whose request stays the same is not sent."""
    tokens: int = 0


class ForkPlan(Frozen):
    """What a fork runs, keeps and may cost."""

    forked_job: str
    question: str
    is_whole: bool
    """True if the whole job runs again, and only its recorded calls are kept."""
    rerun: tuple[ForkedTask, ...]
    kept: tuple[str, ...]
    changes: tuple[str, ...]
    kept_calls: int
    """The model calls of the forked job that the fork does not make."""
    calls: int
    """The model calls of the fork, with its report, if it needs as many as the forked job did."""
    tokens: int
    cost: Money | None
    """At the prices of then, or of now for another model; None: a price is unknown."""
    currency: str
    sends_again: bool
    """True if the calls of the named tasks are sent in spite of recorded answers."""
    note: str = ""
    """What the fork lacks: the documents that an imported job searched."""


class ForkedJob(Frozen):
    """A fork that was started."""

    job_id: str
    fork: ForkPlan
