"""Say in plain words what the engine writes in its own: failures, phases and keys."""

import re
from collections.abc import Callable, Mapping
from re import Match
from typing import NamedTuple

from holdfast.jobs.work_in_words import work_of_role
from holdfast.models.budget.spend_breakdown import Phase
from holdfast.models.errors import FailureClass
from holdfast.models.tasks.task_failure import NO_VALID_ANSWER, NOTHING_FOUND, Failure
from holdfast.models.text.sentences import sentence_spans
from holdfast.web.rendering.commands_on_page import in_words_of_page

_PHASES: Mapping[str, str] = {
    Phase.PLANNING: "planning",
    Phase.EXECUTION: "working on tasks",
    Phase.VERIFICATION: "checking results",
    Phase.REPLANNING: "planning again",
    Phase.SYNTHESIS: "writing the report",
    Phase.COMPARISON: "comparing reports",
}
FAILURE_CLASSES: Mapping[str, str] = {
    FailureClass.TRANSPORT: "a service did not answer",
    FailureClass.QUOTA: "a service refused more calls",
    FailureClass.SEMANTIC: "no usable result",
    FailureClass.TOOL: "the tool failed",
    FailureClass.POLICY: "refused by a rule",
    FailureClass.STATE: "the job was not in a state for it",
}
_FOR_PERSONS = frozenset({FailureClass.POLICY, FailureClass.QUOTA})
_MACHINE_TEXT = re.compile(
    r"[{\[]\s*[\"'{\[]|</?JSON_PATH>|Traceback \(most recent|\d+ validation errors? for "
)
_ORDER_OR_MACHINE_TEXT = re.compile(
    rf"{_MACHINE_TEXT.pattern}|`[^`]*`"
    r"|\b(?:write|give|leave|try|use|name|repeat|correct) "
    r"(?:it|them|the|others|another|only|each)\b"
)
"""Orders are everyday English, so they count only in messages that are written for a model."""
_WRITTEN_FOR_MODELS = re.compile(rf"The \w+ {NO_VALID_ANSWER}: |\S+ {NOTHING_FOUND}; ")
_WORDS_OF_ROLE = re.compile(r"The \w+ says(?: it failed)?: |did not resolve it: |Possible \w+: ")
"""What follows is for a person too: a role's reason, or a value that was found."""
_FEWEST_WORDS = 3
_ENDS_SENTENCE = re.compile(r"[.!?…][\"'”’)\]]*\Z")
_REFERENCE = re.compile(r"<JSON_PATH>([^<.]*)\.([^<]*)</JSON_PATH>")


def _percent(share: str) -> str:
    return f"{float(share):.0%}"


_SENTENCES: tuple[tuple[re.Pattern[str], Callable[[Match[str]], str]], ...] = (
    (
        re.compile(r"Entity '([^']+)' was not found\."),
        lambda found: f"{value_name(found[1])} was not found.",
    ),
    (
        re.compile(r"Entity '([^']+)' has not its declared type\."),
        lambda found: f"{value_name(found[1])} is not the kind of value that was asked for.",
    ),
    (
        re.compile(r"Entity '([^']+)' is below the confidence of (0?\.\d+|[01]): ([01]\.\d+)\."),
        lambda found: (
            f"{value_name(found[1])} is not sure enough: {_percent(found[3])}, and "
            f"{_percent(found[2])} is needed."
        ),
    ),
    (
        re.compile(r"Confidence ([a-z ]+) \(([01]\.\d+)\)\."),
        lambda found: f"Confidence: {found[1]}, {_percent(found[2])}.",
    ),
    (
        re.compile(r"\bPossible (\w+): "),
        lambda found: f"Possible {found[1].replace('_', ' ')}: ",
    ),
    (
        re.compile(r"The (planner|replanner|extractor|reasoner|agent|engine|tool) says: "),
        lambda _: "The reason given: ",
    ),
)


def plain_words(text: str) -> str:
    """A message with the engine's own sentences and commands in plain words; the rest stays."""
    for sign, say in _SENTENCES:
        text = sign.sub(say, text)
    return in_words_of_page(text)


class FailureWords(NamedTuple):
    """Why a task failed, for a reader; `details` is empty if the sentence says all."""

    sentence: str
    details: str


def failure_in_words(failure: Failure) -> FailureWords:
    """What failed, in a sentence, and the message where it has text that is written for a model."""
    message, said = failure.message, plain_words(failure.message)
    sentence = part_for_persons(message, failure.failure_class)
    if sentence == said:
        return FailureWords(said, "")
    kind = FAILURE_CLASSES[failure.failure_class]
    return FailureWords(
        sentence or f"{kind[:1].upper()}{kind[1:]}.",
        message if _MACHINE_TEXT.search(message) else said,
    )


def part_for_persons(message: str, failure_class: str) -> str:
    """The message of a failure in plain words, without what only a model can use.

    It is empty if that leaves no sentence.
    """
    head = _WRITTEN_FOR_MODELS.match(message)
    start = _start_for_models(message, failure_class, is_for_model=head is not None)
    if start is None:
        return plain_words(message)
    ends = [end for _, end in sentence_spans(message) if end <= start]
    end = max(*ends, message.rfind("; ", 0, start), head.end() if head else 0, 0)
    kept = message[:end].rstrip(" \n:;,")
    if len(kept.split()) < _FEWEST_WORDS:
        return ""
    return plain_words(kept if _ENDS_SENTENCE.search(kept) else f"{kept}.")


def _start_for_models(message: str, failure_class: str, *, is_for_model: bool) -> int | None:
    if failure_class in _FOR_PERSONS:
        return None
    if is_for_model:
        found = _ORDER_OR_MACHINE_TEXT.search(message)
    else:
        role = _WORDS_OF_ROLE.search(message)
        found = _MACHINE_TEXT.search(message, 0, role.start() if role else len(message))
    return found.start() if found else None


def value_name(name: str) -> str:
    """The name of a value to find, as a person reads it."""
    words = name.replace("_", " ")
    return words[:1].upper() + words[1:]


def references(text: str) -> str:
    """The text with references to other tasks' values in words."""
    return _REFERENCE.sub(
        lambda found: f"the {found[2].replace('_', ' ')} that {found[1]} finds", text
    )


def work(name: str) -> str:
    """The work of a role, or of a phase of the job, of which statistics keep the name."""
    return _PHASES.get(name) or work_of_role(name)
