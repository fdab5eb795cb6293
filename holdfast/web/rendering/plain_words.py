"""Say in plain words what the engine writes in its own: failures, phases and keys."""

import re
from collections.abc import Callable, Mapping
from re import Match
from typing import NamedTuple

from holdfast.jobs.work_in_words import work_of_role
from holdfast.models.budget.spend_breakdown import Phase
from holdfast.models.errors import FailureClass
from holdfast.models.tasks.task_failure import Failure
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
_FOR_MODELS = re.compile(
    r"[{\[]\s*[\"'{\[]|`[^`]*`|</?JSON_PATH>|Traceback|validation error"
    r"|\b(?:write|give|leave|try|use|name|repeat|correct) "
    r"(?:it|them|the|others|another|only|each)\b"
)
"""JSON, names of fields, and orders: what only the model that made the mistake can use."""
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
    """What failed, in a sentence, and the stored text where that is written for a model."""
    said = plain_words(failure.message)
    found = _FOR_MODELS.search(said)
    if found is None:
        return FailureWords(said, "")
    before = said[: found.start()]
    end = max(before.rfind("; "), before.rfind(". "))
    if end > 0:
        return FailureWords(f"{before[:end]}.", failure.message)
    kind = FAILURE_CLASSES[failure.failure_class]
    return FailureWords(f"{kind[:1].upper()}{kind[1:]}.", failure.message)


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
