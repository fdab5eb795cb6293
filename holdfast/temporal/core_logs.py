"""Send the log of Temporal's native client to Python's log; by default it prints to stdout.

Standard output is for the results of commands.
"""

import logging
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from temporalio.runtime import Runtime

_LOGGER = "temporalio.core"


@cache
def logged_runtime() -> "Runtime":
    """The runtime of this process's Temporal clients; it logs to `temporalio.core`.

    A command without a configured log shows errors only: its own messages name what does not
    answer.
    """
    from temporalio.runtime import (
        LogForwardingConfig,
        LoggingConfig,
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
    return Runtime(telemetry=TelemetryConfig(logging=logs))
