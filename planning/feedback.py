"""Failure feedback: names what is missing or weak, with confidences and the finder's reason."""

from models.errors import FailureClass
from models.failures import Component, Failure
from planning.kpis import Verdict


def kpi_failure(verdict: Verdict, component: Component, reason: str, threshold: float) -> Failure:
    """The failure of a task whose entities did not pass the KPI check."""
    parts = [f"Entity {name!r} was not found." for name in verdict.missing]
    parts += [f"Entity {name!r} has not its declared type." for name in verdict.mistyped]
    parts += [
        f"Entity {name!r} is below the confidence of {threshold:g}: {verdict.confidence:.2f}."
        for name in verdict.weak
    ]
    band = confidence_band(verdict.confidence)
    parts.append(f"Confidence {band} ({verdict.confidence:.2f}).")
    if reason:
        parts.append(f"The {component.value} says: {reason}")
    return Failure(
        component=component,
        failure_class=FailureClass.SEMANTIC,
        message=" ".join(parts),
        missing=verdict.missing,
        weak=verdict.weak,
        mistyped=verdict.mistyped,
        confidence=verdict.confidence,
        reason=reason,
    )


def confidence_band(confidence: float) -> str:
    """The word for a confidence; the bands are those of KPI-Chain's extractor prompt."""
    bands = ((0.3, "very low"), (0.5, "low"), (0.7, "medium"), (0.9, "high"))
    return next((word for limit, word in bands if confidence < limit), "very high")
