"""Start a real Temporal server of the tests: one process, whose data is in memory."""

import sysconfig
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

from temporalio.common import SearchAttributeKey
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.testing import WorkflowEnvironment

from holdfast.workflows.temporal_display import (
    OWNER_ATTRIBUTE,
    PRESET_ATTRIBUTE,
    QUESTION_ATTRIBUTE,
    REPLANS_ATTRIBUTE,
    STATUS_ATTRIBUTE,
    TOKENS_ATTRIBUTE,
)

_ATTRIBUTES: list[SearchAttributeKey] = [
    STATUS_ATTRIBUTE,
    PRESET_ATTRIBUTE,
    OWNER_ATTRIBUTE,
    QUESTION_ATTRIBUTE,
    REPLANS_ATTRIBUTE,
    TOKENS_ATTRIBUTE,
]

_FAST = {f"history.{queue}ProcessorMaxPollRPS": "5000" for queue in ("transfer", "timer")}

_STARTS_WITHIN = timedelta(minutes=2)
"""The client's own limit of 5 s is too short on a busy machine."""


async def start_temporal(
    port: int | None = None, settings: Mapping[str, str] = _FAST
) -> WorkflowEnvironment:
    """An empty server, at a free port unless one is given; it ends with `async with`.

    `settings` is its dynamic configuration.
    """
    return await WorkflowEnvironment.start_local(
        port=port,
        dev_server_startup_timeout=_STARTS_WITHIN,
        dev_server_existing_path=str(Path(sysconfig.get_path("scripts"), "temporal")),
        search_attributes=_ATTRIBUTES,
        data_converter=pydantic_data_converter,
        dev_server_extra_args=[
            f"--dynamic-config-value={name}={value}" for name, value in settings.items()
        ],
    )
