"""Run code around every activity."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

RunActivity: TypeAlias = Callable[[ExecuteActivityInput], Awaitable[Any]]
"""Runs the activity, inside of the interceptors that come after this one."""


class AroundInterceptor(ABC, Interceptor):
    """An interceptor of activities that has no state of its own for each activity."""

    @abstractmethod
    async def around(self, input: ExecuteActivityInput, run: RunActivity) -> Any:  # noqa: A002, ANN401 - the SDK's names
        """Run the activity with `run`, and return its result."""

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002 - the SDK's name
        return _AroundInbound(super().intercept_activity(next), self)


class _AroundInbound(ActivityInboundInterceptor):
    def __init__(self, next: ActivityInboundInterceptor, interceptor: AroundInterceptor) -> None:  # noqa: A002 - the SDK's name
        super().__init__(next)
        self._interceptor = interceptor

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002, ANN401 - the SDK's signature
        return await self._interceptor.around(input, super().execute_activity)
