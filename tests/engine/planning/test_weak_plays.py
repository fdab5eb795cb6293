"""Tests that a weak model's forms of speech cost a job at most one call more."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from holdfast.evals.tokens.recorded_requests import DEFAULT_FILE
from holdfast.storage.evidence.evidence_rows import load_report
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedModel, ScriptedReply
from tests.support.endpoints.scripted_roles import RoleScript, ScriptedRoles
from tests.support.jobs.running_engine import RunningEngine
from tests.support.tools.scripted_tools import ScriptedTools

PLAYS = {
    file.stem: json.loads(file.read_text())
    for file in sorted(DEFAULT_FILE.with_name("weak_plays").glob("*.json"))
}
MOST_MORE_CALLS = 1


@pytest.mark.conformance("MOD-10")
@pytest.mark.parametrize("name", PLAYS)
async def test_a_weak_play_takes_at_most_one_call_more_than_the_strong_one(
    name: str,
    engine: RunningEngine,
    players: ScriptedRoles,
    model: ScriptedModel,
    tools: ScriptedTools,
) -> None:
    play = PLAYS[name]
    tools.answers = play["tools"]

    players.parts = _parts({role: map(_strict, said) for role, said in play["strong"].items()})
    strong = await engine.run(play["question"])
    strong_calls = model.count
    players.parts = _parts({role: map(_lax, said) for role, said in play["weak"].items()})
    weak = await engine.run(play["question"] + " ")
    weak_calls = model.count - strong_calls

    for job in (strong, weak):
        assert (job.status, job.answer) == ("done", play["answer"]), job.message
        report = await load_report(engine.db, job.job_id)
        assert report is not None
        assert [each.text for each in report.sentences] == play["sentences"]
    assert weak_calls <= strong_calls + MOST_MORE_CALLS


def _parts(replies: Mapping[str, Iterator[ScriptedReply]]) -> dict[str, RoleScript]:
    return {role: _part(said) for role, said in replies.items()}


def _part(replies: Iterator[ScriptedReply]) -> RoleScript:
    def reply(_: ReceivedRequest) -> ScriptedReply:
        return next(replies)

    return reply


def _strict(answer: dict[str, Any]) -> ScriptedReply:
    return ScriptedReply.of(answer)


def _lax(text: str) -> ScriptedReply:
    return ScriptedReply(content=text, is_lax=True)
