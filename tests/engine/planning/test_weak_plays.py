"""Tests that a weak model's forms of speech cost a job at most one call more."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from holdfast.evals.tokens.recorded_requests import DEFAULT_FILE
from holdfast.roles.loop.answer_judge import ANSWER_JUDGE
from holdfast.roles.loop.loop_agent import INSTRUCTIONS, ROLE
from holdfast.roles.planning.planner import CONTINUED_PLANNER
from holdfast.storage.evidence.evidence_rows import load_report
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedModel, ScriptedReply
from tests.support.endpoints.scripted_roles import ROLES
from tests.support.jobs.running_engine import RunningEngine
from tests.support.tools.scripted_tools import ScriptedTools

PLAYS = {
    file.stem: json.loads(file.read_text())
    for file in sorted(DEFAULT_FILE.with_name("weak_plays").glob("*.json"))
}
MOST_MORE_CALLS = 1
_ROLES = (*ROLES, CONTINUED_PLANNER, ANSWER_JUDGE)


@dataclass
class PlayedModel:
    """The replies of a play by role, in order; a role that has none left ends the job."""

    replies: dict[str, Iterator[ScriptedReply]] = field(default_factory=dict)

    def __call__(self, asked: ReceivedRequest) -> ScriptedReply:
        if asked.system.startswith(INSTRUCTIONS):
            return self._next(ROLE)
        role = next(each for each in _ROLES if asked.plays(each))
        return self._next(role.name).completed(role)

    def _next(self, name: str) -> ScriptedReply:
        none_left = {"message": f"the play has no further reply of {name}"}
        return next(self.replies.get(name, iter(())), ScriptedReply(status=400, error=none_left))


@pytest.fixture
def players() -> PlayedModel:
    """In place of the sensible answers: the play alone."""
    return PlayedModel()


@pytest.mark.conformance("MOD-10")
@pytest.mark.parametrize("name", PLAYS)
async def test_a_weak_play_takes_at_most_one_call_more_than_the_strong_one(
    name: str,
    engine: RunningEngine,
    players: PlayedModel,
    model: ScriptedModel,
    tools: ScriptedTools,
) -> None:
    play = PLAYS[name]
    preset, tools.answers = play["preset"], play["tools"]

    players.replies = _replies(play["strong"], is_lax=False)
    strong = await engine.run(play["question"], preset_name=preset, servers=("lab",))
    strong_calls = model.count
    players.replies = _replies(play["weak"], is_lax=True)
    weak = await engine.run(play["question"] + " ", preset_name=preset, servers=("lab",))
    weak_calls = model.count - strong_calls

    for job in (strong, weak):
        assert (job.status, job.answer) == ("done", play["answer"]), job.message
        report = await load_report(engine.db, job.job_id)
        assert report is not None
        assert [each.text for each in report.sentences] == play["sentences"]
    assert weak_calls <= strong_calls + MOST_MORE_CALLS


def _replies(play: Mapping[str, list[Any]], *, is_lax: bool) -> dict[str, Iterator[ScriptedReply]]:
    return {role: iter([_reply(each, is_lax) for each in said]) for role, said in play.items()}


def _reply(said: Any, is_lax: bool) -> ScriptedReply:
    """A text as it is; calls of functions, by name and arguments; otherwise an answer as JSON."""
    if isinstance(said, str):
        return ScriptedReply(content=said, is_lax=is_lax)
    if "calls" in said:
        calls = tuple((name, arguments) for name, arguments in said["calls"])
        return ScriptedReply(content=None, calls=calls, is_lax=is_lax)
    return ScriptedReply.of(said, is_lax=is_lax)
