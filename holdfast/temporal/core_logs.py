"""Send the log of Temporal's native client to Python's log, and serve its figures if asked to.

By default it prints to stdout. Standard output is for the results of commands.
"""

import logging
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from temporalio.runtime import Runtime

_LOGGER = "temporalio.core"


@cache
def logged_runtime(metrics_address: str | None = None) -> "Runtime":
    """The runtime of this process's Temporal clients; it logs to `temporalio.core`.

    With an address (`host:port`), it serves the figures of clients and workers in Prometheus's
    text form at `/metrics` there: slots, polls, latencies and failures by activity type.

    A command without a configured log shows errors only: its own messages name what does not
    answer.
    """
    from temporalio.runtime import (
        LogForwardingConfig,
        LoggingConfig,
        PrometheusConfig,
        Runtime,
        TelemetryConfig,
        TelemetryFilter,
    )

    logger = logging.getLogger(_LOGGER)
    if not logging.getLogger().handlers:
        logger.setLevel(logging.ERROR)
    logs = LoggingConfig(
        filter=TelemetryFilter(core_level="WARN", other_level="ERROR"),
        forwarding=LogForwardingConfig(logger=logger),
    )
    metrics = None
    if metrics_address is not None:
        metrics = PrometheusConfig(
            bind_address=metrics_address,
            counters_total_suffix=True,
            unit_suffix=True,
            durations_as_seconds=True,
        )
    return Runtime(telemetry=TelemetryConfig(logging=logs, metrics=metrics))
