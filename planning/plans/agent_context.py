"""Build the context that an agent's roles see: its sub-question, inputs, steps and tools."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from holdfast.models.calls.tool_signatures import ToolSignature
from holdfast.models.errors import NotFound
from holdfast.models.jobs.activity_orders import AgentTaskOrder
from holdfast.models.plans.research_plan import Task, TaskKind
from holdfast.models.questions.user_questions import AnswerOrigin
from holdfast.models.strategies.agent_profiles import AgentProfile
from holdfast.models.tasks.agent_role_task import AgentRoleTask, AnsweredQuestion, TraceStep
from holdfast.models.tasks.named_value import NamedValue
from holdfast.models.tasks.stored_task import StoredTask
from holdfast.models.text.reference_marks import disarm_references
from holdfast.models.text.terminal_text import shorten_text
from holdfast.models.text.value_text import value_as_text
from holdfast.planning.plans.entity_references import resolve_references

_SHOWN_VALUE = 2_000
"""Characters of a value in the trace; references reach the whole value."""
_SHOWN_FAILURE = 600


@dataclass(frozen=True)
class AgentContext:
    """An agent task in one attempt, with its steps, inputs and tools."""

    stored: StoredTask
    steps: tuple[StoredTask, ...]
    """Of this attempt; those that were replaced are left out."""
    others: tuple[StoredTask, ...]
    """The tasks that it depends on."""
    used_ids: tuple[str, ...]
    agent: AgentProfile
    tools: tuple[ToolSignature, ...]
    answers: tuple[AnsweredQuestion, ...] = ()

    @property
    def task(self) -> Task:
        return self.stored.task

    @property
    def objectives(self) -> tuple[str, ...]:
        found = self.stored.notes.get("objectives")
        return tuple(str(each) for each in found) if isinstance(found, list) else ()

    @property
    def memory(self) -> Mapping[str, Mapping[str, JsonValue]]:
        """The entities that references of the steps can reach, by task id."""
        return {each.task.id: each.task.result for each in (*self.others, *self.steps)}

    def told(
        self, order: AgentTaskOrder, *, guidance: str = "", objectives: Sequence[str] = ()
    ) -> AgentRoleTask:
        """The task that the agent's roles are given."""
        return AgentRoleTask(
            node=self.task.id,
            specification=self.task.description,
            criteria=self.task.criteria,
            expects=self.task.expects,
            given=self.given,
            instructions=self.agent.instructions,
            tools=self.tools,
            objectives=tuple(objectives) or self.objectives,
            trace=tuple(trace_step(each) for each in self.steps),
            answers=tuple(each for each in self.answers if each.by != AnswerOrigin.USER),
            user_answers=tuple(each for each in self.answers if each.by == AnswerOrigin.USER),
            guidance=guidance,
            hints=self.hints,
            must_end=order.must_end,
            used_ids=self.used_ids,
        )

    @property
    def given(self) -> tuple[NamedValue, ...]:
        """The inputs, and the results of the dependencies if the task includes context."""
        inputs = tuple(
            NamedValue(
                name=each.name, value=disarm_references(resolve_references(each.value, self.memory))
            )
            for each in self.task.inputs
        )
        if not self.task.include_context:
            return inputs
        return inputs + tuple(
            NamedValue(name=f"{other.task.id}.{name}", value=disarm_references(value))
            for other in self.others
            for name, value in sorted(other.task.result.items())
        )

    @property
    def given_confidence(self) -> float:
        """The confidence of the least certain task that it depends on; 1 without any."""
        known = (each.confidence for each in self.others if each.confidence is not None)
        return min(known, default=1.0)

    @property
    def hints(self) -> tuple[str, ...]:
        """What an earlier attempt at the task left open."""
        notes = self.stored.notes
        missing = notes.get("missing")
        hint = (str(notes["hint"]),) if notes.get("hint") else ()
        return hint + tuple(map(str, missing)) if isinstance(missing, list) else hint


def build_agent_context(
    found: Sequence[StoredTask],
    task_id: str,
    agent: AgentProfile,
    tools: tuple[ToolSignature, ...],
    answers: tuple[AnsweredQuestion, ...] = (),
) -> AgentContext:
    """The view of one agent out of `storage.plans.task_queries.load_agent_task`."""
    steps = [each for each in found if each.task.parent == task_id]
    return AgentContext(
        stored=find_agent_task(found, task_id),
        steps=tuple(each for each in steps if not each.task.status.is_discarded),
        others=tuple(e for e in found if e.task.id != task_id and e.task.parent != task_id),
        used_ids=tuple(each.task.id for each in steps),
        agent=agent,
        tools=tools,
        answers=answers,
    )


def find_agent_task(found: Sequence[StoredTask], task_id: str) -> StoredTask:
    """The agent task itself.

    Raises:
        NotFound: it is not there.
    """
    task = next((each for each in found if each.task.id == task_id), None)
    if task is None:
        raise NotFound(f"the plan has no task {task_id!r}")
    return task


def trace_step(step: StoredTask) -> TraceStep:
    """A step as the agent sees it: values and failures, no raw responses."""
    task = step.task
    arguments = {given.name: given.value for given in task.inputs}
    call = f"{task.tool}({json.dumps(arguments, ensure_ascii=False)})"
    noted = f"{call} -- {step.note}" if step.note else call
    return TraceStep(
        id=task.id,
        action=noted if task.kind is TaskKind.TOOL else f"deduce: {task.description}",
        status=task.status.value,
        found={name: _shortened_value(value) for name, value in task.result.items()},
        failure=str(disarm_references(shorten_text(step.failure.message, _SHOWN_FAILURE)))
        if step.failure
        else "",
    )


def _shortened_value(value: JsonValue) -> JsonValue:
    text = value_as_text(value)
    return disarm_references(
        value if len(text) <= _SHOWN_VALUE else shorten_text(text, _SHOWN_VALUE)
    )
