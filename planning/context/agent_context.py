"""Build the context that an agent's roles see: its sub-question, inputs, steps and tools."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from holdfast.models.calls.job_setting import JobSetting
from holdfast.models.calls.tool_signatures import ToolSignature
from holdfast.models.errors import NotFound
from holdfast.models.frozen_model import Frozen
from holdfast.models.jobs.activity_orders import AgentTaskOrder
from holdfast.models.plans.research_plan import MAX_FIRST_QUERIES, Task, TaskKind
from holdfast.models.questions.user_questions import AnswerOrigin
from holdfast.models.strategies.agent_profiles import AgentProfile
from holdfast.models.tasks.agent_role_task import (
    AgentRoleTask,
    AnsweredQuestion,
    TraceQuote,
    TraceStep,
)
from holdfast.models.tasks.named_value import NamedValue
from holdfast.models.tasks.stored_task import StoredTask
from holdfast.models.text.reference_marks import disarm_references
from holdfast.models.text.terminal_text import shorten_text
from holdfast.models.text.value_text import value_as_text
from holdfast.planning.context.tried_calls import call_with_arguments
from holdfast.planning.plans.entity_references import resolve_references
from holdfast.planning.text.bounded_entries import (
    BoundedEntries,
    first_that_fit,
    left_out_in_words,
    newest_that_fit,
)

_SHOWN_VALUE = 2_000
"""Characters of a value in the trace; references reach the whole value."""
_SHOWN_FAILURE = 600
_SHOWN_QUOTE = 400
_ROOM_FOR_GIVEN = 12_000
"""Characters of the given values in a prompt; the inputs come first, and references reach all."""
_ROOM_FOR_FOUND = 6_000
"""Characters of the values of earlier attempts in a prompt."""
_ROOM_FOR_EARLIER = 6_000
"""Characters of the replaced steps and those of earlier attempts in a prompt; the newest stay."""
_LONGEST_GIVEN = 4_000
"""Characters of one given value in a prompt."""
_LONGEST_QUERY = 400
"""Characters of a first query; a value that it takes may be an account."""
_SURE = 0.9
"""From here on a value is stated in so many words, as the extractor is told."""


@dataclass(frozen=True)
class AgentContext:
    """An agent task in one attempt, with its steps, inputs and tools."""

    stored: StoredTask
    steps: tuple[StoredTask, ...]
    """Of this attempt; those that were replaced are left out."""
    others: tuple[StoredTask, ...]
    """The tasks that it depends on."""
    earlier: tuple[StoredTask, ...]
    """Steps that were replaced, and those of earlier attempts."""
    agent: AgentProfile
    tools: tuple[ToolSignature, ...]
    answers: tuple[AnsweredQuestion, ...] = ()
    setting: JobSetting = field(default_factory=JobSetting)
    quotes: Mapping[str, tuple[TraceQuote, ...]] = field(default_factory=dict)
    """What shows the values of the steps, by step."""

    @property
    def task(self) -> Task:
        return self.stored.task

    @property
    def used_ids(self) -> tuple[str, ...]:
        """The ids of all steps, in order of planning, which no new step may take."""
        every = sorted((*self.earlier, *self.steps), key=lambda each: each.position)
        return tuple(each.task.id for each in every)

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
        found = _values_that_fit(self.found_before, _ROOM_FOR_FOUND)
        run = [trace_step(each) for each in self.earlier if _has_run(each)]
        earlier = newest_that_fit(run, _ROOM_FOR_EARLIER, _length)
        given = self.bounded_given
        left_out = {"given": given.left_out + found.left_out, "earlier": earlier.left_out}
        return AgentRoleTask(
            collection=self.setting.collection,
            today=self.setting.today,
            node=self.task.id,
            specification=self.task.description,
            criteria=self.task.criteria,
            expects=self.task.expects,
            given=given.shown + found.shown,
            instructions=self.agent.instructions,
            tools=self.tools,
            objectives=tuple(objectives) or self.objectives,
            trace=tuple(trace_step(each, self.quotes.get(each.task.id, ())) for each in self.steps),
            earlier=earlier.shown,
            left_out=left_out_in_words(left_out),
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
            if each not in self.task.first_queries
        )
        if not self.task.include_context:
            return inputs
        return inputs + tuple(
            NamedValue(name=f"{other.task.id}.{name}", value=disarm_references(value))
            for other in self.others
            for name, value in sorted(other.task.result.items())
        )

    @property
    def first_queries(self) -> tuple[str, ...]:
        """What the plan has the agent search for first; nothing once it has searched.

        Raises:
            Unresolved: a reference points to nothing.
        """
        if self.used_ids:
            return ()
        values = [resolve_references(each.value, self.memory) for each in self.task.first_queries]
        texts = [
            value_as_text(each) for value in values if isinstance(value, list) for each in value
        ]
        queries = (shorten_text(" ".join(each.split()), _LONGEST_QUERY) for each in texts)
        return tuple(dict.fromkeys(filter(None, queries)))[:MAX_FIRST_QUERIES]

    @property
    def bounded_given(self) -> BoundedEntries[NamedValue]:
        """What a prompt has room for of `given`."""
        return _values_that_fit(self.given, _ROOM_FOR_GIVEN)

    @property
    def found_before(self) -> tuple[NamedValue, ...]:
        """What earlier attempts at this task found; another attempt adds to it."""
        if self.stored.attempt == 1:
            return ()
        return tuple(
            NamedValue(name=f"{self.task.id}.{name}", value=disarm_references(value))
            for name, value in sorted(self.task.result.items())
        )

    def bounded_found(self, lost: Collection[tuple[str, str]]) -> BoundedEntries[NamedValue]:
        """What a prompt has room for of the values that earlier attempts proved.

        An attempt that failed has left its values to its steps. `lost` names the values, as
        (task, name), whose evidence was retracted.
        """
        if self.stored.attempt == 1:
            return BoundedEntries()
        places = (*(each.task for each in self.earlier), self.task)
        found = {
            name: NamedValue(name=name, value=disarm_references(value))
            for task in places
            for name, value in sorted(task.result.items())
            if (task.id, name) not in lost
        }
        return _values_that_fit(list(found.values()), _ROOM_FOR_FOUND)

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
        earlier=tuple(each for each in steps if each.task.status.is_discarded),
        agent=agent,
        tools=tools,
        answers=answers,
    )


def _values_that_fit(values: Sequence[NamedValue], room: int) -> BoundedEntries[NamedValue]:
    return first_that_fit([_shortened(each) for each in values], room, _length)


def _shortened(each: NamedValue) -> NamedValue:
    shown = _shortened_value(each.value, _LONGEST_GIVEN)
    return each.model_copy(update={"value": shown})


def _length(entry: Frozen) -> int:
    return len(entry.model_dump_json(exclude_defaults=True))


def _has_run(step: StoredTask) -> bool:
    return step.finished_at is not None


def find_agent_task(found: Sequence[StoredTask], task_id: str) -> StoredTask:
    """The agent task itself.

    Raises:
        NotFound: it is not there.
    """
    task = next((each for each in found if each.task.id == task_id), None)
    if task is None:
        raise NotFound(f"the plan has no task {task_id!r}")
    return task


def trace_step(step: StoredTask, quotes: tuple[TraceQuote, ...] = ()) -> TraceStep:
    """A step as the agent sees it: values with their quotes, and failures; no raw responses."""
    task = step.task
    call = call_with_arguments(task)
    noted = f"{call} -- {step.note}" if step.note else call
    return TraceStep(
        id=task.id,
        action=noted if task.kind is TaskKind.TOOL else f"deduce: {task.description}",
        status=task.status.value,
        found={name: _shortened_value(value) for name, value in task.result.items()},
        # Where nothing was promised and nothing found, there is nothing to be sure of.
        confidence=step.confidence if task.result or step.failure else None,
        quotes=tuple(_disarmed_quote(each) for each in quotes),
        summary=_doubts(step),
        failure=str(disarm_references(shorten_text(step.failure.message, _SHOWN_FAILURE)))
        if step.failure
        else "",
    )


def _doubts(step: StoredTask) -> str:
    """What was read, in words, if a value is less than sure or there is none.

    A failure says it by itself.
    """
    is_sure = step.confidence is None or step.confidence >= _SURE
    if step.failure or (is_sure and step.task.result):
        return ""
    return str(disarm_references(shorten_text(step.summary, _SHOWN_FAILURE)))


def _disarmed_quote(each: TraceQuote) -> TraceQuote:
    quote = str(disarm_references(shorten_text(each.quote, _SHOWN_QUOTE)))
    return each.model_copy(update={"quote": quote})


def _shortened_value(value: JsonValue, most: int = _SHOWN_VALUE) -> JsonValue:
    text = value_as_text(value)
    return disarm_references(value if len(text) <= most else shorten_text(text, most))
