"""Define the limit of one activity: how long workers may work on it, and on one attempt at it."""

from datetime import timedelta

from holdfast.models.frozen_model import Frozen


class WorkLimit(Frozen):
    """The time that workers may spend on one activity; time without a worker does not count."""

    setting: str
    """The setting that it comes from: `task_patience`, or `agent_timeout` of its agent."""
    value: timedelta
    """The value of the setting."""
    total: timedelta
    """The maximum over all attempts, with the pauses between them: what is left of the value."""
    attempt: timedelta
    """The maximum of one attempt."""

    @property
    def message(self) -> str:
        """Return in words that the time is over."""
        return work_over_message(self.setting, self.value)


def work_over_message(setting: str, value: timedelta) -> str:
    """Return in words that the time of this setting is over."""
    return f"{value.total_seconds():g} s of work are over ({setting})"
