"""Tests that a loop's transcript is no longer than the context of its model allows."""

from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.jobs.model_checks import transcript_note
from holdfast.models.calls.model_config import ModelConfig
from holdfast.models.errors import BadInput
from holdfast.planning.strategies.strategy_presets import preset
from holdfast.settings import Settings
from tests.support.services.command_shell import command_shell

TABLE = '[models.small]\nurl = "http://127.0.0.1:9/v1"\ncontext_tokens = {}\n'
ROOM = 8_192 - 2_048 - 1_000
SettingsOf = Callable[[int], Settings]


@pytest.fixture
def settings_of(tmp_path: Path) -> SettingsOf:
    """Settings with a model `small` of a context."""

    def written(context: int) -> Settings:
        path = tmp_path / "holdfast.toml"
        path.write_text(TABLE.format(context))
        return Settings(config_file=path)

    return written


@pytest.mark.parametrize(
    ("config", "room"),
    [
        (ModelConfig(), None),
        (ModelConfig(context_tokens=8_192), ROOM),
        (ModelConfig(context_tokens=8_192, max_output_tokens=500), 6_692),
        (ModelConfig(context_tokens=128_000), 123_000),
        (ModelConfig(context_tokens=512), 0),
    ],
)
def test_the_room_of_a_transcript_leaves_space_for_the_reply(
    config: ModelConfig, room: int | None
) -> None:
    assert config.transcript_room == room


@pytest.mark.conformance("MOD-01")
def test_a_transcript_that_nobody_chose_is_lowered_with_a_note(settings_of: SettingsOf) -> None:
    strategy = preset("loop").strategy

    note = transcript_note(strategy, "small", settings_of(8_192), is_chosen=False)

    assert note == (
        "model 'small' has a context of 8,192 tokens, so loops keep 5,144 tokens of their "
        "transcript instead of 24,000"
    )


@pytest.mark.parametrize(
    ("name", "model", "context"),
    [("kpi-chain", "small", 8_192), ("loop", "other", 8_192), ("loop", "small", 32_768)],
    ids=["no loops", "unknown context", "enough room"],
)
def test_nothing_is_said_where_the_transcript_fits(
    settings_of: SettingsOf, name: str, model: str, context: int
) -> None:
    strategy = preset(name).strategy

    assert transcript_note(strategy, model, settings_of(context), is_chosen=True) == ""


def test_the_model_of_the_loops_counts_and_not_that_of_the_job(settings_of: SettingsOf) -> None:
    loop = preset("research").strategy
    strategy = loop.model_copy(update={"role_models": {"loop_agent": "small"}})

    assert transcript_note(strategy, "other", settings_of(8_192), is_chosen=False)


def test_a_model_without_room_for_a_loop_is_refused(settings_of: SettingsOf) -> None:
    strategy = preset("loop").strategy

    with pytest.raises(BadInput, match="leaves 1,625") as refused:
        transcript_note(strategy, "small", settings_of(3_500), is_chosen=False)

    assert "it needs 2,000" in str(refused.value)
    assert "give the role `loop_agent` another model" in str(refused.value)


@pytest.mark.slow
@pytest.mark.conformance("MOD-01")
def test_a_transcript_that_was_chosen_too_long_is_refused_before_anything_is_started() -> None:
    with command_shell() as here:
        (here.folder / "holdfast.toml").write_text(TABLE.format(8_192))
        words = ("run", "Why?", "--preset", "loop", "--model", "small")

        message = here.holdfast(*words, "--set", "transcript_tokens=9000").refused()

        assert not here.has_started_services
    assert "transcript_tokens is 9,000, and model 'small' has a context of 8,192" in message
    assert f"Set transcript_tokens={ROOM}, or leave it out" in message
