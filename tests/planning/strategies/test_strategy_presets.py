"""Tests for settings as a user writes them over a preset."""

import pytest

from holdfast.models.errors import BadInput
from holdfast.models.strategies.job_strategy import Supervision
from holdfast.planning.strategies.strategy_presets import preset, with_settings

RESEARCH = preset("research").strategy


def test_none_switches_off_what_may_be_off_and_is_a_word_elsewhere() -> None:
    changed = with_settings(RESEARCH, {"supervise": "none", "max_identical_calls": "none"})

    assert changed.supervise is Supervision.NONE
    assert changed.max_identical_calls is None
    with pytest.raises(BadInput, match="setting 'slots'"):
        with_settings(RESEARCH, {"slots": "none"})


def test_every_fault_is_named() -> None:
    with pytest.raises(BadInput, match=r"setting 'slots'.*; setting 'max_steps'"):
        with_settings(RESEARCH, {"slots": "many", "max_steps": "-1"})
    with pytest.raises(BadInput, match="did you mean 'slots'"):
        with_settings(RESEARCH, {"slot": "1"})
