"""Tests the worked example of KPI-Chain (docs/method.md; Appendix C of the paper) with a model that
answers as the paper's model did."""

from typing import Any

import pytest
from sqlalchemy import create_engine, text

from holdfast.models.plans.kpi_chain_format import memory_document
from holdfast.roles.reports.synthesiser import SYNTHESISER
from holdfast.storage.plans import task_queries
from tests.support.endpoints.scripted_model import ReceivedRequest, ScriptedModel, ScriptedReply
from tests.support.endpoints.scripted_roles import RoleScript, ScriptedRoles
from tests.support.jobs.running_engine import RunningEngine
from tests.support.tools.scripted_tools import ScriptedTools

QUESTION = (
    "What government position was held by the woman who portrayed Corliss Archer in the film Kiss "
    "and Tell?"
)
FILM = (
    "Kiss and Tell is a 1945 American comedy film starring Shirley Temple as Corliss Archer. The "
    "film was directed by Richard Wallace and produced by Columbia Pictures."
)
CAREER = (
    "Shirley Temple Black (April 23, 1928 - February 10, 2014) was an American actress, singer, "
    "dancer, and diplomat. She was Hollywood's number one box-office draw as a child actress."
)
DIPLOMACY = (
    "Shirley Temple Black was an American actress and diplomat.\n\nDiplomatic Career:\n"
    "- United States Ambassador to Ghana (1974-1976): appointed by President Gerald Ford.\n"
    "- Chief of Protocol of the United States (1976-1977): responsible for diplomatic procedure.\n"
    "- United States Ambassador to Czechoslovakia (1989-1992)."
)
FILM_QUERY = "Kiss and Tell Corliss Archer"
NARROW_QUERY = "Shirley Temple diplomat government position Chief of Protocol Ambassador"

PLAN = f"""\
tasks:
  - task_id: T1
    task_description: Find the actress who portrayed Corliss Archer
    task_type: Tool call
    tool_name: wikipedia_search
    input_parameters:
      - name: query
        type: string
        value: {FILM_QUERY}
        is_reference: false
    expected_output_parameters:
      - name: actress_name
        description: Name of the actress who portrayed Corliss Archer in Kiss and Tell
        type: string
    dependencies: []
    execution_status: pending
    execution_result: {{}}
  - task_id: T2
    task_description: Search for the actress's career information
    task_type: Tool call
    tool_name: wikipedia_search
    input_parameters:
      - name: query
        type: string
        value: <JSON_PATH>T1.actress_name</JSON_PATH>
        is_reference: true
    expected_output_parameters:
      - name: government_position
        description: Government position held by the actress
        type: string
    dependencies: [T1]
    execution_status: pending
    execution_result: {{}}
  - task_id: T3
    task_description: Provide the final answer
    task_type: Reasoning
    tool_name: ""
    input_parameters:
      - name: position
        type: string
        value: <JSON_PATH>T2.government_position</JSON_PATH>
        is_reference: true
    expected_output_parameters:
      - name: final_answer
        description: The government position held by the woman
        type: string
    dependencies: [T2]
    execution_status: pending
    execution_result: {{}}
"""

CONTINUATION = """\
tasks:
  - task_id: T2a
    task_description: Search specifically for the diplomatic career and government positions
    task_type: Tool call
    tool_name: wikipedia_search
    input_parameters:
      - name: query
        type: string
        value: <JSON_PATH>T1.actress_name</JSON_PATH> diplomat government position Chief of Protocol Ambassador
        is_reference: true
    expected_output_parameters:
      - name: government_position
        description: Specific government position title; the exact title, not just "diplomat"
        type: string
    dependencies: [T1]
    execution_status: pending
    execution_result: {}
  - task_id: T3a
    task_description: Provide the final answer stating the government position
    task_type: Reasoning
    tool_name: ""
    input_parameters:
      - name: position
        type: string
        value: <JSON_PATH>T2a.government_position</JSON_PATH>
        is_reference: true
    expected_output_parameters:
      - name: final_answer
        description: The government position held by the woman
        type: string
    dependencies: [T2a]
    execution_status: pending
    execution_result: {}
"""

FOUND_ACTRESS = """\
confidence_score: 0.95
extracted_entities:
  actress_name: "Shirley Temple"
entities_summary: The article explicitly states that Shirley Temple plays Corliss Archer.
"""
FOUND_NOTHING = """\
confidence_score: 0.15
extracted_entities:
  government_position: null
entities_summary: The response mentions "diplomat" but no particular government position.
"""
FOUND_POSITION = """\
confidence_score: 0.98
extracted_entities:
  government_position: "Chief of Protocol"
entities_summary: The article lists "Chief of Protocol of the United States (1976-1977)".
"""
REASONED = """\
Justifications:
1. The question asks for the government position held by the woman.
2. The input gives the position as "Chief of Protocol".

execution_result:
  status: completed
  outputs:
    final_answer: "Chief of Protocol"
execution_details:
  reasoning_steps:
    - "Retrieved the government position from the input"
    - "Formatted it as the final answer"
"""
REPORT = ScriptedReply.playing(
    SYNTHESISER,
    {
        "summary": [
            {"text": "She was Chief of Protocol of the United States.", "evidence": ["E2"]}
        ],
        "findings": [{"text": "Shirley Temple played Corliss Archer.", "evidence": ["E1"]}],
        "gaps": [],
    },
)


def script(model: ScriptedModel, tools: ScriptedTools) -> None:
    tools.answers = {FILM_QUERY: FILM, "Shirley Temple": CAREER, NARROW_QUERY: DIPLOMACY}
    texts = (PLAN, FOUND_ACTRESS, FOUND_NOTHING, CONTINUATION, FOUND_POSITION, REASONED)
    model.push(*(ScriptedReply(content=text, is_lax=True) for text in texts), REPORT)


@pytest.mark.conformance("KPI-14")
async def test_the_worked_example_recovers_by_one_replanning(
    engine: RunningEngine, model: ScriptedModel, tools: ScriptedTools
) -> None:
    script(model, tools)

    job = await engine.run(QUESTION)

    assert (job.status, job.stop_reason, job.answer) == ("done", "answered", "Chief of Protocol")
    assert {task.id: task.status for task in job.tasks} == {
        "T1": "done",
        "T2": "superseded",
        "T3": "superseded",
        "T2a": "done",
        "T3a": "done",
    }
    assert job.replans == 1
    assert tools.called == [
        ("wikipedia_search", FILM_QUERY),
        ("wikipedia_search", "Shirley Temple"),
        ("wikipedia_search", NARROW_QUERY),
    ]
    stats = {share.name: share.calls for share in (await _stats(engine, job.job_id)).by_role}
    assert stats == {
        "planner": 1,
        "replanner": 1,
        "extractor": 3,
        "reasoner": 1,  # the paper's own
        "synthesiser": 1,
        "sentence_checker": 1,  # the report, which it does not have
    }


async def _stats(engine: RunningEngine, job_id: str):
    from holdfast.storage.views.statistics_queries import run_statistics

    return await run_statistics(engine.db, job_id)


ACTRESS = {"T1": {"actress_name": "Shirley Temple"}}
POSITION = {"T2a": {"government_position": "Chief of Protocol"}}
ANSWER = {"T3a": {"final_answer": "Chief of Protocol"}}
TABLE_2 = [
    ("planner", {}, {}),
    ("extractor", {}, {"T1": "running", "T2": "pending", "T3": "pending"}),
    ("extractor", ACTRESS, {"T1": "done", "T2": "running", "T3": "pending"}),
    ("replanner", ACTRESS, {"T1": "done", "T2": "failed", "T3": "pending"}),
    (
        "extractor",
        ACTRESS,
        {"T1": "done", "T2": "superseded", "T3": "superseded", "T2a": "running", "T3a": "pending"},
    ),
    (
        "reasoner",
        ACTRESS | POSITION,
        {"T1": "done", "T2": "superseded", "T3": "superseded", "T2a": "done", "T3a": "running"},
    ),
    (
        "synthesiser",
        ACTRESS | POSITION | ANSWER,
        {"T1": "done", "T2": "superseded", "T3": "superseded", "T2a": "done", "T3a": "done"},
    ),
]
"""The memory when each role is called, which is the memory after the step before."""


def memory_and_statuses(database_url: str) -> tuple[dict[str, Any], dict[str, str]]:
    """The entities by task and name, and the status of each task, as PostgreSQL has them now."""
    stored = create_engine(database_url)
    with stored.connect() as connection:
        values = connection.execute(text("select task_id, name, value from entities")).all()
        statuses = connection.execute(text("select id, status from tasks")).all()
    stored.dispose()
    memory: dict[str, Any] = {}
    for task_id, name, value in values:
        memory.setdefault(task_id, {})[name] = value
    return memory, {str(name): str(status) for name, status in statuses}


@pytest.mark.conformance("KPI-14")
async def test_the_memory_after_each_step_is_that_of_table_2(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools, database_url: str
) -> None:
    tools.answers = {FILM_QUERY: FILM, "Shirley Temple": CAREER, NARROW_QUERY: DIPLOMACY}
    replies = {
        "planner": [PLAN],
        "extractor": [FOUND_ACTRESS, FOUND_NOTHING, FOUND_POSITION],
        "replanner": [CONTINUATION],
        "reasoner": [REASONED],
    }
    seen: list[tuple[str, dict[str, Any], dict[str, str]]] = []

    def answering(role: str) -> RoleScript:
        def part(asked: ReceivedRequest) -> object:
            seen.append((role, *memory_and_statuses(database_url)))
            if role == "synthesiser":
                return REPORT
            return ScriptedReply(content=replies[role].pop(0), is_lax=True)

        return part

    players.parts = {role: answering(role) for role in (*replies, "synthesiser")}

    job = await engine.run(QUESTION)

    assert job.answer == "Chief of Protocol"
    assert seen == TABLE_2
    memory = memory_document(await task_queries.load_plan(engine.db, job.job_id))
    memory.pop("current_plan")
    assert memory == ACTRESS | POSITION | ANSWER
