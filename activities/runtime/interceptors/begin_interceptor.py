"""Tell whoever counts activities that one begins."""

from collections.abc import Callable
from typing import Any

from temporalio import activity
from temporalio.worker import ExecuteActivityInput

from holdfast.activities.runtime.interceptors.around_interceptor import (
    AroundInterceptor,
    RunActivity,
)


class BeginInterceptor(AroundInterceptor):
    """Call `begun` with the type of each activity, before the activity."""

    def __init__(self, begun: Callable[[str], None]) -> None:
        self._begun = begun

    async def around(self, input: ExecuteActivityInput, run: RunActivity) -> Any:  # noqa: A002, ANN401 - the SDK's names
        self._begun(activity.info().activity_type)
        return await run(input)
