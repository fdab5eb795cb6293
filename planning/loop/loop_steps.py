"""Turn the calls of a loop's reply into steps of its agent task: one for each query or tool."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from holdfast.models.loop.loop_functions import SearchArguments, SplitArguments, UseArguments
from holdfast.models.plans.research_plan import Task, TaskInput, TaskKind
from holdfast.models.text.reference_marks import disarm_references
from holdfast.models.text.terminal_text import shorten_text
from holdfast.models.text.value_text import value_as_text
from holdfast.planning.loop.loop_reply import LoopCall
from holdfast.planning.loop.loop_tools import ADDRESS_PARAMETERS, LoopTools
from holdfast.planning.plans.tool_fitting import fit_to_tool

StepIds = tuple[tuple[str, ...], ...]
"""For each call of a reply, the ids of the steps that carry it out; none for `answer`, `ask`."""

_MAX_QUESTION = 400
_MAX_DESCRIPTION = 300


@dataclass(frozen=True)
class LoopSteps:
    """The steps of one agent task: their ids continue its used ids."""

    task_id: str
    tools: LoopTools
    used: int
    """How many steps the agent task has had."""
    addresses: Mapping[int, str] = field(default_factory=dict)
    """The address of each numbered passage's document."""

    def first_search(self, question: str, planned: Sequence[str] = ()) -> tuple[Task, ...]:
        """Return the planned searches, or that for the question; none without a search tool."""
        if self.tools.search is None:
            return ()
        if planned:
            numbered = enumerate(planned, start=1)
            return tuple(self._search(self._id(n), each, len(planned)) for n, each in numbered)
        query = " ".join(question.split())[:_MAX_QUESTION]
        inputs = self.tools.search_inputs(query)
        return (self._step(self._id(1), self.tools.search.name, inputs, _about_search(query)),)

    def ids(self, calls: Sequence[LoopCall]) -> StepIds:
        """Return the ids of the steps of these calls."""
        number = self.used
        ids: list[tuple[str, ...]] = []
        for call in calls:
            count = _step_count(call)
            ids.append(tuple(f"{self.task_id}.{number + n}" for n in range(1, count + 1)))
            number += count
        return tuple(ids)

    def steps(self, calls: Sequence[LoopCall], ids: StepIds) -> tuple[Task, ...]:
        """Return the steps of these calls under these ids."""
        steps: list[Task] = []
        count = sum(len(queries_of(call)) for call in calls if isinstance(call, SearchArguments))
        for call, names in zip(calls, ids, strict=True):
            match call:
                case SearchArguments():
                    pairs = zip(names, queries_of(call), strict=True)
                    steps += [self._search(name, query, count) for name, query in pairs]
                case UseArguments():
                    steps.append(self._tool_call(names[0], call))
                case _:
                    pass
        return tuple(steps)

    def _id(self, number: int) -> str:
        return f"{self.task_id}.{self.used + number}"

    def _search(self, step_id: str, query: str, queries: int) -> Task:
        inputs = self.tools.search_inputs(query, queries)
        return self._step(step_id, self.tools.search_name, inputs, _about_search(query))

    def _tool_call(self, step_id: str, call: UseArguments) -> Task:
        inputs = {each.name: self._value(each.name, each.value) for each in call.inputs}
        shown = ", ".join(value_as_text(value) for value in inputs.values())
        step = self._step(step_id, call.tool, inputs, f"{call.tool}: {shown}")
        return fit_to_tool(step, {tool.name: tool for tool in self.tools.others})

    def _value(self, name: str, value: JsonValue) -> JsonValue:
        """The value; the number of a passage that names a document becomes its address."""
        number = str(value).strip()
        if name not in ADDRESS_PARAMETERS or not number.isascii() or not number.isdigit():
            return value
        return self.addresses.get(int(number), value)

    def _step(self, step_id: str, tool: str, inputs: Mapping[str, JsonValue], about: str) -> Task:
        # What a model writes here is text: a copied mark of a reference refers to nothing.
        values = (
            TaskInput(name=name, value=disarm_references(value)) for name, value in inputs.items()
        )
        return Task(
            id=step_id,
            kind=TaskKind.TOOL,
            description=shorten_text(about, _MAX_DESCRIPTION),
            tool=tool,
            inputs=tuple(values),
            parent=self.task_id,
        )


def queries_of(call: SearchArguments) -> list[str]:
    """Return the queries of a search without the empty ones."""
    return [" ".join(query.split()) for query in call.queries if query.strip()]


def sub_questions_of(call: SplitArguments) -> tuple[str, ...]:
    """Return the sub-questions of a wide question without the empty ones."""
    named = (" ".join(each.split()) for each in call.sub_questions)
    return tuple(shorten_text(each, _MAX_DESCRIPTION) for each in named if each)


def _step_count(call: LoopCall) -> int:
    match call:
        case SearchArguments():
            return len(queries_of(call))
        case UseArguments():
            return 1
        case _:
            return 0


def _about_search(query: str) -> str:
    return f"Search for: {query}"
