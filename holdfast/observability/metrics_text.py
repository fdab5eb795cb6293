"""Write the figures of the installation in Prometheus's text form, for `/metrics`."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from holdfast.models.errors import StorageAway
from holdfast.models.views.metric_families import MetricFamily, MetricKind
from holdfast.storage.core.database import Database
from holdfast.storage.views.metric_queries import installation_figures
from holdfast.tools.optional_parts import OptionalPart, require_part

if TYPE_CHECKING:
    from prometheus_client.core import Metric

KEPT_S = 10.0
"""The time for which figures are served again: scrapes of many servers must not load PostgreSQL."""
_DATABASE_UP = "holdfast_database_up"


@dataclass
class MetricsPage:
    """The figures of one database, computed at most every ten seconds."""

    db: Database
    kept_s: float = KEPT_S
    _text: bytes = field(default=b"", init=False)
    _until: float = field(default=0.0, init=False)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    async def text(self) -> bytes:
        """Return the figures; while PostgreSQL is away, only that it is.

        Raises:
            PartMissing: the part `observability` is not installed.
        """
        require_part(OptionalPart.OBSERVABILITY, "serving /metrics")
        async with self._lock:
            if time.monotonic() >= self._until:
                self._text = _written(await self._families())
                self._until = time.monotonic() + self.kept_s
            return self._text

    async def _families(self) -> list[MetricFamily]:
        try:
            found = await installation_figures(self.db)
        except StorageAway:
            return [_database_family(is_up=False)]
        return [_database_family(is_up=True), *found]


def _database_family(*, is_up: bool) -> MetricFamily:
    return MetricFamily(
        name=_DATABASE_UP,
        meaning="1 if PostgreSQL answers.",
        kind=MetricKind.GAUGE,
        samples=(((), float(is_up)),),
    )


def _written(families: Sequence[MetricFamily]) -> bytes:
    from prometheus_client import CollectorRegistry, generate_latest
    from prometheus_client.registry import Collector

    class Figures(Collector):
        def collect(self) -> Iterator["Metric"]:
            return map(_metric, families)

    registry = CollectorRegistry(auto_describe=False)
    registry.register(Figures())
    return generate_latest(registry)


def _metric(family: MetricFamily) -> "Metric":
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    is_counter = family.kind is MetricKind.COUNTER
    metric = (CounterMetricFamily if is_counter else GaugeMetricFamily)(
        family.name, family.meaning, labels=family.labels
    )
    for labels, value in family.samples:
        metric.add_metric(labels, value)
    return metric
