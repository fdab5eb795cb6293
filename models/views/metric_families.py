"""Define a family of figures, as Prometheus reads it."""

from enum import StrEnum

from holdfast.models.frozen_model import Frozen


class MetricKind(StrEnum):
    """How a figure changes."""

    COUNTER = "counter"
    """A sum that grows, except when jobs are removed."""
    GAUGE = "gauge"
    """The present state."""


class MetricFamily(Frozen):
    """Figures of one meaning, one for each combination of labels."""

    name: str
    meaning: str
    kind: MetricKind
    labels: tuple[str, ...] = ()
    samples: tuple[tuple[tuple[str, ...], float], ...]
    """The values of the labels, and the figure."""
