"""Replace tool arguments unknown to the tool by values of its vocabulary before the call."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pydantic import JsonValue

from holdfast.activities.runtime.model_call import ModelCaller
from holdfast.activities.runtime.task_outcome import TaskOutcome
from holdfast.activities.runtime.text_similarity import TextSimilarity
from holdfast.models.errors import ToolFailed
from holdfast.models.frozen_model import Frozen
from holdfast.models.text.storable_text import storable_value
from holdfast.models.text.terminal_text import shorten_text
from holdfast.models.wire import call_places
from holdfast.planning.text.nearest_values import NEAREST_COUNT, Vocabulary, fuse_rankings
from holdfast.roles.tasks.matcher import MATCHER, MatcherAnswer, MatcherTask
from holdfast.tools.mcp.tool_hub import Hub
from holdfast.tools.vocabularies.server_vocabularies import KnownParameter

_SHOWN = 80


class Substitution(Frozen):
    """An argument as planned, and the value that the tool was called with."""

    parameter: str
    given: str
    used: str

    def __str__(self) -> str:
        given, used = shorten_text(self.given, _SHOWN), shorten_text(self.used, _SHOWN)
        return f"{given!r} was not found; substituted with {used!r}"


@dataclass(frozen=True)
class GroundedArguments:
    """The arguments of a tool call, with the substitutions made."""

    arguments: dict[str, JsonValue]
    substitutions: tuple[Substitution, ...] = ()

    @property
    def note(self) -> str:
        """Return the substitutions in one line; empty if there are none."""
        return "; ".join(map(str, self.substitutions))

    def add_to(self, outcome: TaskOutcome) -> TaskOutcome:
        """Return the outcome with the substitutions in its trace, and with a note on them."""
        if not self.substitutions:
            return outcome
        stored = [storable_value(each.model_dump()) for each in self.substitutions]
        told = replace(outcome, trace={**outcome.trace, "substituted": stored})
        return told if "note" in outcome.trace else told.with_note(self.note)


@dataclass
class ArgumentGrounder:
    """The grounding of one call's arguments."""

    model_caller: ModelCaller
    hub: Hub
    facts: Mapping[str, str]
    tool: str
    similarity: TextSimilarity | None = None
    found: list[Substitution] = field(default_factory=list)

    async def ground(self, arguments: Mapping[str, JsonValue]) -> GroundedArguments:
        """Return the arguments with unknown values replaced by values of the tool's vocabulary.

        Raises:
            ToolFailed: an argument matches none of the tool's values (the message names the
                nearest), or the values could not be listed.
            Passing: the model or the server is busy.
            BudgetReached: the job's cap leaves no room for asking the matcher.
            Lasting: the model refused.
        """
        known = await self.hub.vocabularies(self.tool, tuple(arguments), facts=self.facts)
        fitting = dict(arguments)
        for name, parameter in known.items():
            fitting[name] = await self._value(name, parameter, arguments[name])
        return GroundedArguments(fitting, tuple(self.found))

    async def _value(self, name: str, parameter: KnownParameter, value: JsonValue) -> JsonValue:
        """Return the value if it is known, else its replacement; lists are checked by item."""
        if isinstance(value, str):
            return await self._ground_term(name, parameter, value)
        if isinstance(value, list):
            return [await self._value(name, parameter, item) for item in value]
        return value

    async def _ground_term(self, name: str, parameter: KnownParameter, given: str) -> str:
        vocabulary = parameter.vocabulary
        if given in vocabulary:
            return given
        if not self.model_caller.strategy.robust_tools:
            near = vocabulary.nearest(given, 1)
            raise ToolFailed(_unknown_argument_message(self.tool, name, given, vocabulary, near))
        used = vocabulary.same(given)
        if used is not None:
            return used
        near = await self._nearest(vocabulary, given)
        used = await self._ask_matcher(name, parameter, given, near)
        if used is None:
            raise ToolFailed(_unknown_argument_message(self.tool, name, given, vocabulary, near))
        self.found.append(Substitution(parameter=name, given=given, used=used))
        return used

    async def _nearest(self, vocabulary: Vocabulary, given: str) -> tuple[str, ...]:
        """Return the ten nearest values: by spelling, and by meaning where a model can tell."""
        spelt = vocabulary.nearest(given)
        if self.similarity is None or len(vocabulary.values) <= NEAREST_COUNT:
            return spelt
        places = await self.similarity.by_nearness(given, vocabulary.values)
        if places is None:
            return spelt
        meant = [vocabulary.values[place] for place in places[:NEAREST_COUNT]]
        return tuple(fuse_rankings(spelt, meant)[:NEAREST_COUNT])

    async def _ask_matcher(
        self, name: str, parameter: KnownParameter, given: str, candidates: Sequence[str]
    ) -> str | None:
        """Return the nearest value that the matcher confirms, or None."""
        if not candidates:
            return None
        task = MatcherTask(
            argument=given,
            tool=self.tool,
            parameter=name,
            description=parameter.description,
            candidates=tuple(candidates),
        )

        def check(answer: MatcherAnswer) -> Sequence[str]:
            # A recorded answer may have been chosen among other candidates.
            if answer.match is None or answer.match in parameter.vocabulary:
                return ()
            return [f"{answer.match[:_SHOWN]!r} is none of the candidates; copy one, or give null"]

        place = call_places.match_place(name)
        asked = await self.model_caller.ask(MATCHER, task, place=place, check=check)
        return asked.answer.match if asked.answer else None


def _unknown_argument_message(
    tool: str, name: str, given: str, vocabulary: Vocabulary, near: Sequence[str]
) -> str:
    """Return why the tool is not called; the nearest values follow the first line."""
    begin = f"{tool} was not called: it knows no {name} {shorten_text(given, _SHOWN)!r}."
    if not near:
        first = ", ".join(repr(each[:200]) for each in vocabulary.values[:10])
        return f"{begin}\nNone is spelt like it; the values begin with: {first}"
    shown = ", ".join(repr(each[:200]) for each in near)
    return f"{begin}\nNearest to it {'is' if len(near) == 1 else 'are'}: {shown}"
