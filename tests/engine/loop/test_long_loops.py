"""Tests that a long loop is compacted: bounded requests, sentences kept word for word."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from holdfast.planning.text.token_estimates import estimate_tokens
from holdfast.roles.loop.compactor import COMPACTOR
from holdfast.storage.evidence import evidence_rows
from tests.support.endpoints.loop_script import answer, search, sentence
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedModel, ScriptedReply
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.running_engine import RunningEngine, running_engine
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow

QUESTION = "What is the sixtieth link?"
SEARCHES = 60
FILLER = " ".join(f"Sentence {n} tells of other things at some length." for n in range(60))
LIMIT = 32_000
SMALL_CONTEXT = 8_192


def page(query: str) -> str:
    return f"The {query} leads to the link after it. {FILLER}"


def keep_links(request: ReceivedRequest) -> dict[str, Any]:
    """Keep the one sentence of each passage that matters, as a model may copy it."""
    keep = [
        {"passage": each["n"], "quote": each["text"].partition(".")[0]}
        for each in request.task["passages"]
    ]
    return {"keep": keep}


def follow_links(players: ScriptedRoles, tools: ScriptedTools, searches: int) -> None:
    """Let the loop make so many searches, and then answer with a sentence of the first one."""
    tools.answers = page
    players.parts["compactor"] = keep_links
    early = sentence("The link 1 leads on.", 2, "The link 1 leads to the link after it.")
    players.loop.turns = [
        *([search(f"link {n}")] for n in range(1, searches + 1)),
        [answer("the link after it", early)],
    ]


def _tokens(request: ReceivedRequest) -> int:
    said = sum(estimate_tokens(turn["content"] or "") for turn in request.turns)
    return said + estimate_tokens(json.dumps(request.body["tools"]))


@pytest.mark.conformance("LOOP-06")
async def test_sixty_searches_fit_into_the_context_and_early_sentences_stay_citable(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    follow_links(players, tools, SEARCHES - 1)

    job = await engine.run(QUESTION, preset_name="loop", servers=("lab",), within_s=150)

    assert (job.status, job.answer) == ("done", "the link after it"), job.message
    report = await evidence_rows.load_report(engine.db, job.job_id)
    assert report is not None
    assert [each.quote for each in report.citations] == ["The link 1 leads to the link after it."]
    assert max(map(_tokens, players.loop.asked)) < LIMIT
    compactions = players.count(COMPACTOR)
    assert 1 <= compactions < SEARCHES / 5
    grown = sum(
        after.turns[: len(before.turns)] == before.turns
        for before, after in pairwise(players.loop.asked)
    )
    assert grown == len(players.loop.asked) - 1 - compactions, (
        "only a compaction has a new beginning"
    )
    first = json.loads(players.loop.asked[-1].turns[1]["content"])
    kept = {each["n"]: each["sentences"] for each in first["kept"]}
    assert kept[2] == ["The link 1 leads to the link after it."]
    assert "link 1" in first["tried"]


@pytest.mark.conformance("LOOP-06")
@pytest.mark.long
async def test_rules_keep_sentences_if_the_compactor_gives_no_valid_answer(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    tools.answers = page
    players.parts["compactor"] = lambda request: ScriptedReply.lax(
        {"keep": "nothing that can be read"}
    )
    early = sentence("The link 1 leads on.", 2, "The link 1 leads to the link after it.")
    players.loop.turns = [
        *([search(f"link {n}")] for n in range(1, 8)),
        [answer("the link after it", early)],
    ]

    job = await engine.run(
        QUESTION, preset_name="loop", servers=("lab",), transcript_tokens="4000", plan_tries="0"
    )

    assert (job.status, job.answer) == ("done", "the link after it"), job.message
    assert players.count(COMPACTOR) > 0
    first = json.loads(players.loop.asked[-1].turns[1]["content"])
    kept = {each["n"]: each["sentences"] for each in first["kept"]}
    assert "The link 1 leads to the link after it." in kept[2], "also without a compactor"


@pytest.mark.conformance("LOOP-06")
@pytest.mark.long
async def test_what_one_compaction_kept_stays_after_the_next_ones(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    follow_links(players, tools, 15)

    job = await engine.run(QUESTION, preset_name="loop", servers=("lab",), transcript_tokens="5000")

    assert (job.status, job.answer) == ("done", "the link after it"), job.message
    assert players.count(COMPACTOR) >= 2
    first = json.loads(players.loop.asked[-1].turns[1]["content"])
    kept = {each["n"]: each["sentences"] for each in first["kept"]}
    assert kept[2] == ["The link 1 leads to the link after it."]


@pytest.mark.conformance("LOOP-06", "MOD-01")
async def test_a_small_context_lowers_the_limit_of_the_transcript(
    temporal: Client,
    database_url: str,
    tmp_path: Path,
    tools: ScriptedTools,
    players: ScriptedRoles,
    model: ScriptedModel,
) -> None:
    """The setting says 24,000 tokens; a request of more than 8,192 would not be sent."""
    follow_links(players, tools, 15)
    toml = f'\n[models.small]\nurl = "{model.url}"\ncontext_tokens = {SMALL_CONTEXT}\n'
    async with running_engine(
        temporal, database_url, tmp_path, model_url=model.url, tools_url=tools.url, toml=toml
    ) as engine:
        job = await engine.run(
            QUESTION, preset_name="loop", servers=("lab",), role_models="loop_agent=small"
        )

    assert (job.status, job.answer) == ("done", "the link after it"), job.message
    assert {asked.body["model"] for asked in players.loop.asked} == {"small"}
    assert players.count(COMPACTOR) > 0
    assert max(map(_tokens, players.loop.asked)) < SMALL_CONTEXT
