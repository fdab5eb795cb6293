"""Tests of the comparison with peers: same search and endpoint, metered, continued, in a table."""

import json
import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from holdfast.evals.measures.question_files import QuestionParagraph
from holdfast.evals.peers.contestant_names import PRESETS, SINGLE_PROMPT
from holdfast.evals.peers.contestants.bracket_citations import check_plain_answer
from holdfast.evals.peers.contestants.peer_program import PEERS_PYTHON, PROGRAMS
from holdfast.evals.peers.earlier_jobs import earlier_cost, earlier_jobs, earlier_lines
from holdfast.evals.peers.exchange_records import Exchange, ExchangeRecords, usage_of
from holdfast.evals.peers.peer_comparison import OPEN_QUESTION
from holdfast.evals.peers.peer_records import PeerRecords, PeerRun
from holdfast.evals.peers.peer_table import cost_ratios, table_lines
from holdfast.evals.peers.question_sets import SET_FOLDER, QuestionSet, read_question_set
from holdfast.models.errors import BadInput
from tests.evals.test_citation_measure import QUESTION_ROWS
from tests.support.endpoints.loop_script import LoopScript, answer, search, sentence
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedModel, ScriptedReply
from tests.support.endpoints.scripted_roles import ROLES, ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan

ROOT = Path(__file__).parents[2]
LAMP = "The Harrow Lamp was designed by Imogen Pell."
PELL = "Imogen Pell was an engineer born in Selby Marsh."
SET = """
source = "made for this test"
file = "rows.json"
pool = ["one", "two"]
ask = ["one"]
"""
PLANNED = plan(lookup_task("T1", query=PELL).with_tool("corpus.search"), final_task("T2", "T1"))
GIVEN = QuestionSet(
    "lamps",
    (
        QuestionParagraph("Harrow Lamp", "Harrow Lamp", LAMP, is_gold=False),
        QuestionParagraph("Imogen Pell", "Imogen Pell", PELL, is_gold=False),
    ),
    (),
)


def exchange(*messages: str, cached: int = 0) -> Exchange:
    request = {"model": "m", "messages": [{"role": "user", "content": each} for each in messages]}
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    return Exchange(
        request=request,
        reply={"usage": usage | {"prompt_tokens_details": {"cached_tokens": cached}}},
    )


def test_tokens_that_an_earlier_request_began_with_are_counted_apart() -> None:
    first, second = exchange("a" * 900), exchange("a" * 900, "b" * 100, cached=80)

    assert usage_of([first]).repeated_tokens == 0
    used = usage_of([first, second])
    assert (used.calls, used.input_tokens, used.output_tokens) == (2, 200, 20)
    assert 85 <= used.repeated_tokens <= 90
    assert used.cached_tokens == 80


def test_the_second_call_of_a_request_gets_the_second_reply(tmp_path: Path) -> None:
    asked = exchange("who?")
    first = asked.model_copy(update={"reply": {"n": 1}})
    second = asked.model_copy(update={"reply": {"n": 2}})
    records = ExchangeRecords(tmp_path)
    records.add(first)
    records.add(second)

    continued = ExchangeRecords(tmp_path)

    assert [continued.kept(asked.request) for _ in range(3)] == [first, second, None]


def test_a_title_that_does_not_exist_and_a_quote_that_does_not_stand_are_counted() -> None:
    found = check_plain_answer(
        'Answer: Selby Marsh\nPell designed it [Harrow Lamp]. She "was an engineer born in" '
        'Selby Marsh [Imogen Pell; Harrow Lamp]. "She was a famous painter" [Lives of Pell].',
        GIVEN,
    )

    assert found.answer == "Selby Marsh"
    assert (found.citations, found.citations_that_exist) == (4, 3)
    assert (found.quotes, found.quotes_that_stand) == (2, 1)


def test_a_set_pools_the_paragraphs_of_its_rows(tmp_path: Path) -> None:
    given = read_question_set(*_files(tmp_path))

    assert [each.id for each in given.questions] == ["one"]
    assert len(given.documents) == 8
    assert given.questions[0].answers == ("Selby Marsh",)


def test_a_set_without_its_data_says_where_they_are_from(tmp_path: Path) -> None:
    path, _ = _files(tmp_path)

    with pytest.raises(BadInput, match=r"name one with --data\. made for this test"):
        read_question_set(path, tmp_path / "nowhere.json")


def test_the_committed_sets_say_their_licence() -> None:
    for each in SET_FOLDER.glob("*.toml"):
        assert re.search(r"\((CC BY(-SA| SA)? 4\.0|Apache-2\.0)\)", each.read_text()), each


def _files(folder: Path) -> tuple[Path, Path]:
    path, data = folder / "lamps.toml", folder / "rows.json"
    path.write_text(SET)
    data.write_text(json.dumps(QUESTION_ROWS))
    return path, data


def _plays_everybody(request: ReceivedRequest) -> ScriptedReply:
    """The loop, the programs, and the single prompt, each by its instructions."""
    loop = LoopScript([[search("Imogen Pell")], _shown_answer])
    loop._turn_by_request = {json.dumps([]): 0} if _answers(request) else {}
    if loop.plays(request):
        return loop(request)
    if any(request.plays(role) for role in ROLES):
        return ScriptedRoles(plan=PLANNED)(request)
    if request.body.get("tools") and not _answers(request):
        return ScriptedReply.calling(("search", {"query": "Imogen Pell"}))
    asked = " ".join(turn["content"] or "" for turn in request.turns)
    if "agent_role_prompt" in asked:
        return ScriptedReply(content='{"server": "Lamps", "agent_role_prompt": "You research."}')
    if "search queries" in asked:
        return ScriptedReply(content='["Imogen Pell"]')
    if "detailed report" in asked:
        return ScriptedReply(content=f"# Lamps\n\n{PELL} ([Pell, n.d.](Imogen Pell))")
    return ScriptedReply(content=f"Answer: Selby Marsh\n{PELL} [Imogen Pell]")


def _answers(request: ReceivedRequest) -> int:
    return sum(turn["role"] == "assistant" for turn in request.turns)


def _shown_answer(request: ReceivedRequest) -> list[Any]:
    shown = [turn["content"] or "" for turn in request.turns]
    number = next(n for n in range(1, 9) if any(_is_shown(n, text) for text in shown))
    return [answer("Selby Marsh", sentence("Imogen Pell was born in Selby Marsh.", number, PELL))]


def _is_shown(number: int, text: str) -> bool:
    at = text.find(PELL)
    return at >= 0 and f'"n":{number},' in text[max(0, at - 60) : at]


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(600)  # starts services and, where installed, a peer's slow imports
def test_a_comparison_is_run_and_then_only_read(tmp_path: Path) -> None:
    path, data = _files(tmp_path)
    names = [*PRESETS, SINGLE_PROMPT, *(PROGRAMS if PEERS_PYTHON.exists() else [])]
    with ScriptedModel(_plays_everybody) as model:
        command = [sys.executable, "-m", "holdfast.evals.peers", str(path), "--data", str(data)]
        command += ["--model", "scripted", "--contestants", ",".join(names)]
        command += ["--out", str(tmp_path / "out")]
        first = _run(command, model.url)
        asked = model.count
        again = _run(command, model.url)

    assert first == again
    assert model.count == asked, "a stored result was paid for again"
    assert "| `loop` | 1 | 1 of 1 |" in first
    runs = {each.contestant: each for each in _runs(tmp_path / "out", names)}
    loop = runs["loop"]
    assert loop.delivered.citations == loop.delivered.quotes_that_stand == 1
    assert sum(run.usage.calls for run in runs.values()) == asked
    turns = ExchangeRecords(tmp_path / "out" / "exchanges" / "loop" / "one").all
    assert len(turns) == 3
    assert _begins_with_the_request_before(turns)
    for preset in PRESETS:
        assert (runs[preset].verdict, runs[preset].delivered.failure) == ("correct", ""), preset
        assert runs[preset].delivered.quotes_that_stand >= 1
    if "gpt-researcher" in runs:
        report = runs["gpt-researcher"]
        assert (report.usage.calls, report.delivered.searches) == (3, 3)
        assert report.delivered.citations == report.delivered.citations_that_exist == 1
        assert report.verdict == "correct"
    single = runs["single-prompt"]
    assert (single.usage.calls, single.verdict) == (1, "correct")
    assert single.delivered.citations_that_exist == 1


RECORDED = Path("evals/peers/recorded/2026-11-27.json")
MOST_TOKENS, MOST_CALLS = 1.5, 1.4


def recorded_runs() -> list[PeerRun]:
    return [PeerRun.model_validate(each) for each in json.loads((ROOT / RECORDED).read_text())]


@pytest.mark.conformance("LOOP-05")
def test_the_recorded_loop_costs_little_more_than_a_plain_agent() -> None:
    ratios = cost_ratios(recorded_runs(), "loop")

    assert ratios is not None
    questions, tokens, calls = ratios
    assert questions >= 8
    assert tokens <= MOST_TOKENS
    assert calls <= MOST_CALLS


RESEARCH = Path("evals/peers/recorded/research-2026-11-27.json")


def research_runs() -> list[PeerRun]:
    return [PeerRun.model_validate(each) for each in json.loads((ROOT / RESEARCH).read_text())]


@pytest.mark.conformance("MOD-07")
def test_the_recorded_research_costs_a_fraction_of_the_jobs_before_the_loop() -> None:
    jobs = earlier_jobs()
    cost = earlier_cost(research_runs(), jobs)
    runs = {run.question: run for run in research_runs()}

    assert cost.questions == len(jobs) == 7
    assert cost.calls <= 1 / 3
    assert cost.input_tokens <= 1 / 5
    one, run = jobs[0], runs[jobs[0].question]
    assert earlier_cost([run], jobs) == (
        1,
        run.usage.calls / one.calls,
        run.usage.input_tokens / one.input_tokens,
    ), "of a question that was not asked again nothing is counted"
    for job in jobs:
        run = runs[job.question]
        assert run.verdict == ("correct" if run.right else OPEN_QUESTION), job.about
        assert run.delivered.answer, "an open question is answered as well"
        assert 0 < run.delivered.quotes == run.delivered.quotes_that_stand


def test_the_documented_costs_are_those_of_the_recorded_research() -> None:
    page = (ROOT / "docs/played-jobs.md").read_text()
    cost = earlier_cost(research_runs(), earlier_jobs())
    ratios = cost_ratios([*recorded_runs(), *research_runs()], "research")

    for line in earlier_lines(research_runs(), earlier_jobs()):
        assert line in page
    assert f"{cost.calls:.0%} of the calls and {cost.input_tokens:.0%} of the input tokens" in page
    assert ratios is not None
    assert f"{ratios[1]:.2f} times the input tokens and {ratios[2]:.2f} times the calls" in page


def test_the_documented_table_is_that_of_the_recorded_runs() -> None:
    page = (ROOT / "docs/played-jobs.md").read_text()
    runs = recorded_runs()

    for line in table_lines(runs):
        assert not line.startswith("|") or line in page
    ratios = cost_ratios(runs, "loop")
    assert ratios is not None
    assert f"{ratios[1]:.2f} times the input tokens and {ratios[2]:.2f} times the calls" in page


def _begins_with_the_request_before(exchanges: list[Exchange]) -> bool:
    said = [each.request["messages"] for each in exchanges if each.request.get("tools")]
    return all(later[: len(one)] == one for one, later in pairwise(said))


def _runs(out: Path, names: list[str]) -> list[PeerRun]:
    return PeerRecords(out / "runs").all(names, ["one"])


def _run(command: list[str], url: str) -> str:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HOLDFAST_")}
    ran = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
        env=kept | {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "k"},
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout
