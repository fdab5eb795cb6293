"""Read the calls of a loop agent's reply, and list their faults for a correction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue, ValidationError

from holdfast.models.answer_draft import Draft
from holdfast.models.calls.function_calls import FunctionCall, FunctionCalls
from holdfast.models.loop.loop_functions import (
    ANSWER,
    ASK,
    MAX_QUERY_CHARS,
    MOST_QUERIES,
    SEARCH,
    SPLIT,
    USE,
    AskArguments,
    LoopAnswer,
    PromisingAnswer,
    SearchArguments,
    SplitArguments,
    SubQuestionAnswer,
    UseArguments,
)
from holdfast.models.plans.research_plan import ExpectedEntity
from holdfast.planning.loop.loop_tools import LoopTools
from holdfast.planning.results.value_types import is_missing

LoopCall = SearchArguments | UseArguments | AskArguments | SplitArguments | LoopAnswer

MOST_CALLS = 8
"""Searches and tool calls of one turn."""
MOST_SENTENCES = 60
MOST_SUB_QUESTIONS = 12
_LEFT_OUT: Mapping[str, JsonValue] = {"short": "", "sentences": [], "values": []}
"""What a correction may leave out, as it has only what changes."""


@dataclass(frozen=True)
class ReplyRules:
    """What a reply may hold in this turn."""

    tools: LoopTools
    asks: bool
    promises: tuple[ExpectedEntity, ...] = ()
    """The values that the answer must have."""
    is_of_plan: bool = False
    """True if the question is one of a plan, and not the job's own."""
    must_answer: str = ""
    corrects: bool = False
    """True if the agent was asked to correct its answer, and may leave the rest out."""
    splits: bool = False
    """True if a plan follows, so that the first reply may be sub-questions."""
    is_first: bool = False

    @property
    def functions(self) -> dict[str, type[Draft]]:
        """Return the functions that the agent may call, with the types of their arguments."""
        types: dict[str, type[Draft]] = {}
        if self.tools.search is not None:
            types[SEARCH] = SearchArguments
        if self.tools.others:
            types[USE] = UseArguments
        if self.asks:
            types[ASK] = AskArguments
        if self.splits:
            types[SPLIT] = SplitArguments
        return types | {ANSWER: self._answer_type}

    @property
    def _answer_type(self) -> type[LoopAnswer]:
        if self.promises:
            return PromisingAnswer
        return SubQuestionAnswer if self.is_of_plan else LoopAnswer

    def calls(self, reply: FunctionCalls) -> tuple[LoopCall, ...]:
        """Return the calls with their arguments; only for a reply without faults."""
        return tuple(self._arguments(call) for call in reply.calls)

    def faults(self, reply: FunctionCalls) -> list[str]:
        """Return what is wrong with the reply; empty: nothing."""
        try:
            calls = self.calls(reply)
        except ValidationError as error:
            return _validation_faults(error)
        except ValueError as error:
            return [str(error)]
        return [*self._mixture_faults(calls), *(f for call in calls for f in self._faults_of(call))]

    def _arguments(self, call: FunctionCall) -> LoopCall:
        types = self.functions
        call = self._named(call)
        if call.name in self.tools.names:  # a tool's own name instead of `use`
            inputs = _named_values(call.arguments)
            return UseArguments.model_validate({"tool": call.name, "inputs": inputs})
        if call.name not in types:
            message = f"there is no function {call.name!r}; functions: {', '.join(types)}"
            raise ValueError(message)
        given = {name.casefold() for name in call.arguments}
        left_out = _LEFT_OUT if self.corrects and call.name == ANSWER else {}
        missing = {name: value for name, value in left_out.items() if name not in given}
        arguments = types[call.name].model_validate({**call.arguments, **missing})
        assert isinstance(arguments, LoopCall)
        return arguments

    def _named(self, call: FunctionCall) -> FunctionCall:
        """The call with a name that is offered: in its own case, and `search` for its tool."""
        known = {name.casefold(): name for name in (*self.tools.names, *self.functions)}
        if self.tools.search_name:
            known |= {self.tools.search_name.casefold(): SEARCH}
        name = known.get(call.name.strip().casefold(), call.name)
        return call.model_copy(update={"name": name})

    def _mixture_faults(self, calls: Sequence[LoopCall]) -> list[str]:
        endings = LoopAnswer | AskArguments | SplitArguments
        ends = [call for call in calls if isinstance(call, endings)]
        if self.must_answer and not any(isinstance(call, LoopAnswer) for call in calls):
            return [f"no call is possible any more ({self.must_answer}): call `answer`"]
        if ends and len(calls) > 1:
            name = _name_of(ends[0])
            return [f"`{name}` stands alone: first search, or call `{name}` now"]
        if len(calls) > MOST_CALLS:
            return [f"at most {MOST_CALLS} calls in a turn"]
        return []

    def _faults_of(self, call: LoopCall) -> list[str]:
        match call:
            case SearchArguments():
                return _query_faults(call)
            case UseArguments():
                known = call.tool in self.tools.names
                names = ", ".join(sorted(self.tools.names))
                return [] if known else [f"there is no tool {call.tool!r}; tools: {names}"]
            case AskArguments():
                return [] if call.question.strip() else ["the question is empty"]
            case SplitArguments():
                return self._split_faults(call)
            case LoopAnswer():
                return self._answer_faults(call)

    def _split_faults(self, call: SplitArguments) -> list[str]:
        if not self.is_first:
            return [f"`{SPLIT}` is for the first reply: search, or answer with what is open"]
        named = [each for each in call.sub_questions if each.strip()]
        if not 2 <= len(named) <= MOST_SUB_QUESTIONS:
            return [f"`{SPLIT}` needs 2 to {MOST_SUB_QUESTIONS} sub-questions"]
        return []

    def _answer_faults(self, answer: LoopAnswer) -> list[str]:
        if len(answer.sentences) > MOST_SENTENCES:
            return [f"at most {MOST_SENTENCES} sentences"]
        if self.corrects:
            return []
        if isinstance(answer, PromisingAnswer):
            return self._value_faults(answer)
        if not answer.short.strip() and not answer.open:
            return ["where there is no answer, `open` names what the documents do not state"]
        if answer.short.strip() and not answer.sentences:
            return ["`sentences` must show the answer, each with its quotes"]
        return []

    def _value_faults(self, answer: PromisingAnswer) -> list[str]:
        values = (each for each in answer.values if not is_missing(each.value))
        there = {each.name.strip().casefold() for each in values}
        required = (each.name for each in self.promises if each.required)
        lost = [f"`{name}`" for name in required if name.casefold() not in there]
        if not lost or answer.open:
            return []
        names = f"`values` has no {', '.join(lost)}"
        return [f"{names}: give each by its name, or name in `open` what the documents lack"]


def _name_of(call: LoopCall) -> str:
    match call:
        case AskArguments():
            return ASK
        case SplitArguments():
            return SPLIT
        case _:
            return ANSWER


def _query_faults(call: SearchArguments) -> list[str]:
    queries = [query for query in call.queries if query.strip()]
    if not queries:
        return ["`search` needs a query"]
    if len(queries) > MOST_QUERIES:
        return [f"at most {MOST_QUERIES} queries in one search"]
    if any(len(query) > MAX_QUERY_CHARS for query in queries):
        return [f"a query has at most {MAX_QUERY_CHARS} characters"]
    return []


def _named_values(inputs: Mapping[str, JsonValue]) -> list[dict[str, JsonValue]]:
    return [{"name": name, "value": value} for name, value in inputs.items()]


def _validation_faults(error: ValidationError) -> list[str]:
    found = error.errors(include_url=False, include_input=False, include_context=False)
    return [f"{'.'.join(map(str, each['loc'])) or 'calls'}: {each['msg']}" for each in found[:10]]


def answered_sentences(reply: str) -> list[str]:
    """Return the sentences of the answer in a recorded reply; none if the reply has no answer."""
    try:
        calls = FunctionCalls.model_validate_json(reply).calls
        answers = [LoopAnswer.model_validate(c.arguments) for c in calls if c.name == ANSWER]
    except ValidationError:
        return []
    return [" ".join(each.text.split()) for answer in answers for each in answer.sentences]
