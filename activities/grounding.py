"""Arguments that a tool does not know are brought to those that it does, before it is called."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pydantic import JsonValue

from activities.asking import Desk
from activities.outcomes import Outcome
from models.base import Frozen
from models.errors import ToolFailed
from models.text import shortened
from planning.values import storable, storable_text
from planning.vocabulary import NEAREST, Vocabulary
from roles.matcher import MATCHER, MatcherAnswer, MatcherTask
from tools.hub import Hub
from tools.vocabularies import Parameter

_SHOWN = 80


class Substitution(Frozen):
    """An argument as it was written, and the value that the tool was called with."""

    parameter: str
    given: str
    used: str

    def __str__(self) -> str:
        given, used = shortened(self.given, _SHOWN), shortened(self.used, _SHOWN)
        return f"{given!r} was not found; substituted with {used!r}"


@dataclass(frozen=True)
class Grounded:
    """The arguments that a tool is called with, and what was put in another's place."""

    arguments: dict[str, JsonValue]
    substitutions: tuple[Substitution, ...] = ()

    @property
    def note(self) -> str:
        """What was substituted, in a line; empty where nothing was."""
        return "; ".join(map(str, self.substitutions))

    def told_in(self, outcome: Outcome) -> Outcome:
        """The outcome with what was substituted in its trace, and in its failure if it has one."""
        if not self.substitutions:
            return outcome
        stored = [storable(each.model_dump()) for each in self.substitutions]
        trace = {**outcome.trace, "note": storable_text(self.note), "substituted": stored}
        failure = outcome.failure
        if failure is not None:
            message = f"{failure.message[:3000]}\nNote: {storable_text(self.note)}"[:4000]
            failure = failure.model_copy(update={"message": message})
        return replace(outcome, trace=trace, failure=failure)


@dataclass
class Grounding:
    """One call's arguments on their way to the tool."""

    desk: Desk
    hub: Hub
    facts: Mapping[str, str]
    tool: str
    found: list[Substitution] = field(default_factory=list)

    async def ground(self, arguments: Mapping[str, JsonValue]) -> Grounded:
        """The arguments with values of the tool's vocabularies in the place of others.

        Raises:
            ToolFailed: an argument means none of the values that the tool knows; names the
                nearest. Or its values could not be listed.
            Passing: the model or the server is busy.
            BudgetReached: the job's cap leaves no room for asking the matcher.
            Lasting: the model refused.
        """
        known = await self.hub.vocabularies(self.tool, tuple(arguments), facts=self.facts)
        fitting = dict(arguments)
        for name, parameter in known.items():
            fitting[name] = await self._value(name, parameter, arguments[name])
        return Grounded(fitting, tuple(self.found))

    async def _value(self, name: str, parameter: Parameter, value: JsonValue) -> JsonValue:
        """The same value where it is known; a list is looked at item by item."""
        if isinstance(value, str):
            return await self._term(name, parameter, value)
        if isinstance(value, list):
            return [await self._value(name, parameter, item) for item in value]
        return value

    async def _term(self, name: str, parameter: Parameter, given: str) -> str:
        vocabulary = parameter.vocabulary
        if given in vocabulary:
            return given
        if not self.desk.strategy.robust_tools:
            raise ToolFailed(_refusal(self.tool, name, given, vocabulary, most=1))
        used = vocabulary.same(given)
        if used is not None:
            return used
        used = await self._matched(name, parameter, given)
        if used is None:
            raise ToolFailed(_refusal(self.tool, name, given, vocabulary))
        self.found.append(Substitution(parameter=name, given=given, used=used))
        return used

    async def _matched(self, name: str, parameter: Parameter, given: str) -> str | None:
        """The one of the nearest values that the matcher confirms."""
        candidates = parameter.vocabulary.nearest(given)
        if not candidates:
            return None
        task = MatcherTask(
            argument=given,
            tool=self.tool,
            parameter=name,
            description=parameter.description,
            candidates=candidates,
        )

        def check(answer: MatcherAnswer) -> Sequence[str]:
            if answer.match is None or answer.match in candidates:
                return ()
            return [f"{answer.match[:_SHOWN]!r} is none of the candidates; copy one, or give null"]

        place = f"match:{name}"[:200]
        asked = await self.desk.ask(MATCHER, task, place=place, check=check)
        return asked.answer.match if asked.answer else None


def _refusal(tool: str, name: str, given: str, vocabulary: Vocabulary, most: int = NEAREST) -> str:
    """Why the tool is not called. What it knows stands below the first line, which lists show."""
    near = vocabulary.nearest(given, most)
    begin = f"{tool} was not called: it knows no {name} {shortened(given, _SHOWN)!r}."
    if not near:
        first = ", ".join(repr(each[:200]) for each in vocabulary.values[:10])
        return f"{begin}\nNone is spelt like it; the values begin with: {first}"
    shown = ", ".join(repr(each[:200]) for each in near)
    return f"{begin}\nNearest to it {'is' if len(near) == 1 else 'are'}: {shown}"
