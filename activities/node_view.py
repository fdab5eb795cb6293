"""What an agent's roles are shown: its own sub-question, what it rests on, and its own steps."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from models.agents import AgentProfile
from models.errors import NotFound
from models.orders import NodeOrder
from models.plan import Task, TaskKind, TaskStatus
from models.text import inert, shortened
from models.tools import ToolSignature
from planning.references import resolve
from roles.node_planner import Answered, NodeTask, TraceStep
from roles.reasoner import Given
from storage.plans import StoredTask

_SHOWN_VALUE = 2_000
"""Characters of a value in the trace; references reach the whole of it (H-59)."""
_SHOWN_FAILURE = 600


@dataclass(frozen=True)
class NodeView:
    """An agent task as one attempt at it stands."""

    node: StoredTask
    steps: tuple[StoredTask, ...]
    """Of this attempt; those that were replaced are left out."""
    others: tuple[StoredTask, ...]
    """The tasks that it depends on."""
    used_ids: tuple[str, ...]
    agent: AgentProfile
    tools: tuple[ToolSignature, ...]
    answers: tuple[Answered, ...] = ()

    @property
    def task(self) -> Task:
        return self.node.task

    @property
    def objectives(self) -> tuple[str, ...]:
        found = self.node.notes.get("objectives")
        return tuple(str(each) for each in found) if isinstance(found, list) else ()

    @property
    def memory(self) -> Mapping[str, Mapping[str, JsonValue]]:
        """What references of the steps reach: the steps' entities, and those of what is given."""
        return {each.task.id: each.task.result for each in (*self.others, *self.steps)}

    def told(
        self, order: NodeOrder, *, guidance: str = "", objectives: Sequence[str] = ()
    ) -> NodeTask:
        """The typed task of the agent's roles."""
        return NodeTask(
            node=self.task.id,
            specification=self.task.description,
            criteria=self.task.criteria,
            expects=self.task.expects,
            given=self.given,
            instructions=self.agent.instructions,
            tools=self.tools,
            objectives=tuple(objectives) or self.objectives,
            trace=tuple(traced(each) for each in self.steps),
            answers=self.answers,
            guidance=guidance,
            hints=self._hints(),
            must_end=order.must_end,
            used_ids=self.used_ids,
        )

    @property
    def given(self) -> tuple[Given, ...]:
        """Its inputs, and what the tasks it depends on found where it is to see that."""
        inputs = tuple(
            Given(name=each.name, value=inert(resolve(each.value, self.memory)))
            for each in self.task.inputs
        )
        if not self.task.include_context:
            return inputs
        return inputs + tuple(
            Given(name=f"{other.task.id}.{name}", value=inert(value))
            for other in self.others
            for name, value in sorted(other.task.result.items())
        )

    def _hints(self) -> tuple[str, ...]:
        notes = self.node.notes
        missing = notes.get("missing")
        hint = (str(notes["hint"]),) if notes.get("hint") else ()
        return hint + tuple(map(str, missing)) if isinstance(missing, list) else hint


def viewed(
    found: Sequence[StoredTask],
    task_id: str,
    agent: AgentProfile,
    tools: tuple[ToolSignature, ...],
    answers: tuple[Answered, ...] = (),
) -> NodeView:
    """The view of one agent out of `storage.plans.load_node`."""
    steps = [each for each in found if each.task.parent == task_id]
    gone = (TaskStatus.SUPERSEDED, TaskStatus.CANCELLED)
    return NodeView(
        node=node_in(found, task_id),
        steps=tuple(each for each in steps if each.task.status not in gone),
        others=tuple(e for e in found if e.task.id != task_id and e.task.parent != task_id),
        used_ids=tuple(each.task.id for each in steps),
        agent=agent,
        tools=tools,
        answers=answers,
    )


def node_in(found: Sequence[StoredTask], task_id: str) -> StoredTask:
    """The agent task itself.

    Raises:
        NotFound: it is not there.
    """
    node = next((each for each in found if each.task.id == task_id), None)
    if node is None:
        raise NotFound(f"the plan has no task {task_id!r}")
    return node


def traced(step: StoredTask) -> TraceStep:
    """A step as the agent sees it: values and failures, never what a tool returned as a whole."""
    task = step.task
    arguments = {given.name: given.value for given in task.inputs}
    call = f"{task.tool}({json.dumps(arguments, ensure_ascii=False)})"
    noted = f"{call} -- {step.note}" if step.note else call
    return TraceStep(
        id=task.id,
        action=noted if task.kind is TaskKind.TOOL else f"deduce: {task.description}",
        status=task.status.value,
        found={name: _shown(value) for name, value in task.result.items()},
        failure=str(inert(shortened(step.failure.message, _SHOWN_FAILURE))) if step.failure else "",
    )


def _shown(value: JsonValue) -> JsonValue:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return inert(value if len(text) <= _SHOWN_VALUE else shortened(text, _SHOWN_VALUE))
