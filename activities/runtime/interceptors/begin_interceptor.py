"""Tell whoever counts activities that one begins."""

from collections.abc import Callable
from typing import Any

from temporalio.worker import ExecuteActivityInput

from holdfast.activities.runtime.interceptors.around_interceptor import (
    AroundInterceptor,
    RunActivity,
)


class BeginInterceptor(AroundInterceptor):
    """Call `begun` before each activity."""

    def __init__(self, begun: Callable[[], None]) -> None:
        self._begun = begun

    async def around(self, input: ExecuteActivityInput, run: RunActivity) -> Any:  # noqa: A002, ANN401 - the SDK's names
        self._begun()
        return await run(input)
