"""Write the failure of a task whose values are missing, mistyped or too uncertain."""

import re

from holdfast.models.errors import FailureClass
from holdfast.models.plans.research_plan import FINAL_ANSWER
from holdfast.models.tasks.task_failure import Component, Failure, WeakValue
from holdfast.models.text.message_limits import MessageLimit, cut_message
from holdfast.models.text.terminal_text import shorten_text
from holdfast.models.text.value_text import value_as_text
from holdfast.planning.results.kpi_check import KpiVerdict

_LONGEST_VALUE = 120
_LONGEST_QUOTE = 200
_NAMED = re.compile(r"\bEntity '(\w+)'")
_NAME_WORDS = {
    FINAL_ANSWER: "the answer",
    "supporting_passage": "a passage that supports the answer",
    "telling_passage": "a passage that gives the answer",
}
"""Names that plans by rules give to what has no name of its own."""


def kpi_failure(
    verdict: KpiVerdict, component: Component, reason: str, threshold: float
) -> Failure:
    """Return the failure of a task: which values are missing, mistyped or too uncertain.

    The confidence is named only where somebody gave one that is too low: `very high` for a missing
    value would mislead.
    """
    parts = [f"Entity {name!r} was not found." for name in verdict.missing]
    parts += [f"Entity {name!r} has not its declared type." for name in verdict.mistyped]
    own = {each.name: each.confidence for each in verdict.weak_values}
    parts += [
        f"Entity {name!r} is below the confidence of {threshold:g}: {own[name]:.2f}."
        for name in verdict.weak
    ]
    reason = cut_message(reason, MessageLimit.ENTRY)
    if 0 < verdict.confidence < threshold:
        band = confidence_band(verdict.confidence)
        parts.append(f"Confidence {band} ({verdict.confidence:.2f}).")
    if reason:
        parts.append(f"The {component.value} says: {reason}")
    parts += [_weak_value(each) for each in verdict.weak_values]
    return Failure(
        component=component,
        failure_class=FailureClass.SEMANTIC,
        message=" ".join(parts),
        missing=verdict.missing,
        weak=verdict.weak,
        weak_values=verdict.weak_values,
        mistyped=verdict.mistyped,
        confidence=verdict.confidence,
        reason=reason,
    )


def failure_in_words(message: str) -> str:
    """Return the message for readers of a report, who do not know the entities of the plan."""
    return _NAMED.sub(lambda match: _name_in_words(match[1]), message)


def _name_in_words(name: str) -> str:
    return _NAME_WORDS.get(name) or f"“{name.replace('_', ' ')}”"


def _weak_value(weak: WeakValue) -> str:
    """The value that was found, with its quote: the next attempt may find what confirms it."""
    value = shorten_text(value_as_text(weak.value), _LONGEST_VALUE)
    quote = shorten_text(" ".join(weak.quote.split()), _LONGEST_QUOTE)
    return f"Possible {weak.name}: {value}" + (f", read from “{quote}”." if quote else ".")


def confidence_band(confidence: float) -> str:
    """Return the word for a confidence, in the bands of KPI-Chain's extractor prompt."""
    bands = ((0.3, "very low"), (0.5, "low"), (0.7, "medium"), (0.9, "high"))
    return next((word for limit, word in bands if confidence < limit), "very high")
