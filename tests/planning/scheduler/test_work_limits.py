"""Tests for the limits of worked time of an agent's steps and turns."""

from datetime import timedelta

import pytest

from holdfast.planning.scheduler.work_limits import concluding_limit, step_limit
from holdfast.planning.strategies.strategy_presets import preset

STRATEGY = preset("vmao").strategy


@pytest.mark.conformance("VMAO-03")
@pytest.mark.parametrize(("worked_s", "left_s"), [(0, 600), (400, 200), (599.5, 1), (900, 1)])
def test_a_step_has_the_time_that_its_agent_has_left(worked_s: float, left_s: float) -> None:
    limit = step_limit(STRATEGY, worked_s)

    assert (limit.setting, limit.total) == ("agent_timeout", timedelta(seconds=left_s))
    assert limit.message == "600 s of work are over (agent_timeout)"


@pytest.mark.conformance("VMAO-03")
def test_the_turn_in_which_an_agent_concludes_has_a_minute_at_least() -> None:
    hasty = STRATEGY.model_copy(update={"agent_timeout": timedelta(seconds=5)})

    assert concluding_limit(hasty).total == timedelta(minutes=1)
    assert concluding_limit(STRATEGY).total == timedelta(minutes=10)
