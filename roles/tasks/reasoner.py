"""Reasoner role: deduce a task's outputs from the task's inputs alone."""

from typing import Literal

from pydantic import Field, model_validator

from holdfast.models.answer_draft import Confidence, Draft, DraftValue
from holdfast.models.frozen_model import Frozen
from holdfast.models.plans.research_plan import ExpectedEntity
from holdfast.models.tasks.named_value import NamedValue
from holdfast.models.wire.role_names import RoleName
from holdfast.roles.dialogue.role_definition import Role


class ReasonerTask(Frozen):
    """What the reasoner is given."""

    question: str = Field(description="the user's question; the task is a part of it")
    description: str
    inputs: tuple[NamedValue, ...]
    context: tuple[NamedValue, ...] = Field(
        default=(), description="results of the tasks that this one depends on"
    )
    outputs: tuple[ExpectedEntity, ...]


class Concluded(Draft):
    """One output; a value of null when it cannot be concluded."""

    name: str
    value: DraftValue = None
    confidence: Confidence | None = Field(default=None, description="0 to 1")


class ReasonerAnswer(Draft):
    """The outputs with the steps that led to them. KPI-Chain's own form is read as well."""

    reasoning_steps: list[str] = Field(default_factory=list)
    status: Literal["completed", "failed"] = Field(
        description="failed if any output cannot be concluded"
    )
    outputs: list[Concluded] = Field(default_factory=list)
    explanation: str = Field(default="", description="when failed: what is missing, and why")

    @model_validator(mode="before")
    @classmethod
    def _from_paper_form(cls, value: object) -> object:
        if not isinstance(value, dict) or "execution_result" not in value:
            return value
        result = value["execution_result"] or {}
        details = value.get("execution_details") or {}
        outputs = result.get("outputs") or {}
        return {
            "status": result.get("status", "failed"),
            "outputs": [{"name": name, "value": outputs[name]} for name in outputs],
            "reasoning_steps": details.get("reasoning_steps") or [],
            "explanation": details.get("explanation") or "",
        }


REASONER = Role(
    name=RoleName.REASONER.value,
    instructions="""\
You carry out one reasoning task of a research plan: `description` says which, a part of `question`.
Use the `inputs` and the `context` and nothing else: no knowledge of your own, no hidden
assumptions. Write the steps, then each of the `outputs` with its declared name and type (else
string). A conclusion is no surer than the least sure input that it needs. If an output cannot be
concluded, its value is null, the status is `failed`, and `explanation` says what is missing. An
output named `final_answer` is short and complete; its reader has not seen the inputs.
""",
    foreign_fields=("inputs", "context"),
    task=ReasonerTask,
    answer=ReasonerAnswer,
)
