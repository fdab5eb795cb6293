"""Assessor role: decide if an agent task needs more steps, is completed, or has failed."""

from typing import Literal

from pydantic import Field

from holdfast.models.answer_draft import Draft
from holdfast.models.tasks.agent_role_task import SupervisorTask
from holdfast.models.wire.role_names import RoleName
from holdfast.roles.agents.stepper import Output
from holdfast.roles.agents.sub_question_fields import SUB_QUESTION_FIELDS
from holdfast.roles.dialogue.role_definition import Role


class Assessment(Draft):
    """The verdict on an agent's work so far."""

    status: Literal["needs_more_steps", "completed", "failed"]
    reason: str = Field(default="", description="one sentence")
    guidance: str = Field(default="", description="for the next step, where more are needed")
    outputs: list[Output] = Field(
        default_factory=list, description="when completed: every entity in `expects`"
    )
    deviation: str = Field(
        default="", description="what was observed that the objectives did not expect; else empty"
    )
    contradicts_plan: str = Field(
        default="",
        description="what was found that makes the sub-question, or what others will build on it, "
        "rest on a wrong assumption; else empty",
    )


ASSESSOR = Role(
    name=RoleName.ASSESSOR.value,
    instructions=(
        """\
You supervise an agent that works one sub-question with its `tools`. Judge by the `trace` of its
steps: each has what it found, how sure that is, and the quotes that show it. `objectives` are what
it means to reach on the way.
- `completed`: quotes support every entity in `expects`, and `criteria` are met. Give the `outputs`,
  as values or as references such as <JSON_PATH>T1.2.name</JSON_PATH>, each with a confidence.
- `needs_more_steps`: it can still be resolved. Give brief `guidance`: what to look at next, not
  how.
- `failed`: it cannot be resolved with these tools.
With `needs_more_steps`, `deviation` says what was observed that conflicts with the objectives, so
that they must be changed; it is empty where they hold. With any status, `contradicts_plan` says
what shows that the sub-question itself assumed something wrong. If `must_end` is set, no further
call is possible.
"""
        + SUB_QUESTION_FIELDS
    ),
    foreign_fields=("collection", "given", "tools", "trace", "earlier", "answers", "hints"),
    task=SupervisorTask,
    answer=Assessment,
)
