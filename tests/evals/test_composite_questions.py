"""Tests for composite questions: joined programs, which replanning mends which fault, and what the
faults cost."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from holdfast.evals.oracle.fault_costs import PRESETS, preset_fault_costs
from holdfast.evals.oracle.gold_programs import GoldProgram, kopl_programs, with_faults
from holdfast.evals.oracle.joined_questions import (
    CLOSING_INSTRUCTION,
    compose_all,
    compose_question,
)
from holdfast.evals.oracle.oracle_roles import Oracle
from holdfast.evals.oracle.program_calls import program_progress
from holdfast.evals.presets.run_records import QuestionRun, RoleUsage
from holdfast.models.errors import BadInput
from holdfast.planning.budget.role_phases import DEVIATION_ROLES

PEOPLE = {"E1": "Ada", "E2": "Brann", "E3": "Chiyo", "E4": "Dario"}
KB = {
    "concepts": {"K2": {"name": "person", "subclassOf": []}},
    "entities": {
        key: {
            "name": name,
            "instanceOf": ["K2"],
            "attributes": [
                {"key": "age", "value": {"type": "quantity", "value": 40 + at}, "qualifiers": {}}
            ],
            "relations": [
                {"relation": "knows", "direction": "forward", "object": "E1", "qualifiers": {}}
            ],
        }
        for at, (key, name) in enumerate(PEOPLE.items())
    },
}


def row(at: int, name: str) -> dict[str, Any]:
    """Of odd rows a deduction over who is known; of even ones the age itself."""
    program: list[dict[str, Any]] = [{"function": "Find", "inputs": [name], "dependencies": []}]
    if at % 2:
        program += [
            {"function": "Relate", "inputs": ["knows", "forward"], "dependencies": [0]},
            {"function": "What", "inputs": [], "dependencies": [1]},
        ]
        question, answer = f"Who does {name} know?", "Ada"
    else:
        program.append({"function": "QueryAttr", "inputs": ["age"], "dependencies": [0]})
        question, answer = f"How old is {name}?", str(40 + at)
    return {
        "id": f"q{at}",
        "question": question,
        "answer": answer,
        "complexity_bin": "1-3",
        "program": program,
    }


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "kopl_mini"
    folder.mkdir()
    (folder / "lab_kb.json").write_text(json.dumps(KB))
    rows = [row(at, name) for at, name in enumerate(PEOPLE.values())]
    (folder / "lab_questions.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return tmp_path


@pytest.fixture
def golds(data: Path) -> list[GoldProgram]:
    folder = data / "kopl_mini"
    return kopl_programs(folder / "lab_questions.jsonl", folder / "lab_kb.json")


def test_the_programs_of_the_parts_stand_one_behind_the_other(golds: list[GoldProgram]):
    both = compose_question(with_faults(golds[:2], 1))

    assert [step.needs for step in both.steps] == [(), (0,), (), (2,), (3,)]
    assert (both.ends, both.wrong) == ((1, 4), frozenset({0, 3}))
    assert both.answer == "40 | Ada"


def test_no_part_is_in_two_composites(golds: list[GoldProgram]):
    found = compose_all(golds, 2)

    assert [[part.id for part in each.parts] for each in found] == [["q0", "q2"], ["q1", "q3"]]
    with pytest.raises(BadInput, match="--k 5 does not fit: there are 4 questions"):
        compose_all(golds, 5)


def test_the_graph_has_a_task_for_each_part_and_one_that_concludes(golds: list[GoldProgram]):
    both = compose_question(golds[:2])
    task = {"question": both.question, "agents": ["generalist"], "concludes": True}

    drafted: Any = Oracle.of([both]).play("planner", task)

    assert [each["description"] for each in drafted["tasks"]] == [
        "How old is Ada?",
        "Who does Brann know?",
        CLOSING_INSTRUCTION,
    ]
    assert [each["depends_on"] for each in drafted["tasks"]] == [[], [], ["T1", "T2"]]


def test_a_call_counts_as_made_whatever_note_stands_behind_it(golds: list[GoldProgram]):
    """The engine notes that a call was made before, or that it replaced an argument."""
    note = " -- kopl.Find was called with these arguments before (1 times)"
    step = {"id": "T1.1", "status": "done", "action": f'kopl.Find({{"name": "Ada"}}){note}'}

    assert program_progress(golds[0], [step]).done == {0: step}


def test_a_fault_is_mended_where_it_was_refused_and_nowhere_else(golds: list[GoldProgram]):
    """Of two parts with the same wrong call only the one that was made counts as refused."""
    (gold,) = with_faults(golds[:1], 1)
    twice = compose_question([gold, gold])
    refused = {"id": "T1.1", "status": "failed", "action": 'kopl.Find({"name": "Ada (sic)"})'}

    assert program_progress(twice, [refused]).mended == {0}
    assert program_progress(twice, [refused, {**refused, "id": "T1.2"}]).mended == {0, 2}


def test_a_continuation_of_the_whole_plan_keeps_the_faults_that_nobody_saw(
    golds: list[GoldProgram],
):
    both = compose_question(with_faults(golds[:2], 1))
    playing = Oracle.of([both])
    plan: Any = playing.play("planner", {"question": both.question, "agents": []})
    listed = [
        {
            "id": each["id"],
            "inputs": each["inputs"],
            "status": "failed" if each["id"] == "T1" else "pending",
        }
        for each in plan["tasks"]
    ]
    task = {
        "question": both.question,
        "current_plan": listed,
        "used_ids": [],
        "expects": [],
        "failed_task_id": "T1",
        "replaced": [each["id"] for each in listed],
    }

    mended: Any = playing.play("replanner", task)

    names = {each["id"]: each["description"] for each in mended["tasks"]}
    assert (names["T1a"], names["T4a"]) == ("kopl.Find Ada", "kopl.Relate knows (sic) forward")


def test_an_agent_mends_its_step_by_its_own_ids(golds: list[GoldProgram]):
    (gold,) = with_faults(golds[:1], 1)
    playing = Oracle.of([gold])
    task: Any = {"specification": gold.question, "node": "T7"}
    steps: Any = playing.play("step_planner", task)
    failed = [
        {"id": "T7.1", "status": "failed", "inputs": []},
        {"id": "T7.2", "status": "pending", "inputs": []},
    ]
    replan = {
        "question": gold.question,
        "current_plan": failed,
        "used_ids": ["T7.1", "T7.2"],
        "expects": [{"name": "value"}],
        "failed_task_id": "T7.1",
        "replaced": ["T7.1", "T7.2"],
    }

    mended: Any = playing.play("replanner", replan)

    assert steps["tasks"][0]["description"] == "kopl.Find Ada (sic)"
    assert [each["id"] for each in mended["tasks"]] == ["T7.1a", "T7.2a"]
    assert mended["tasks"][0]["description"] == "kopl.Find Ada"


def line(preset: str, output: int, **roles: int) -> QuestionRun:
    spent = {name: RoleUsage(calls=1, output_tokens=out) for name, out in roles.items()}
    return QuestionRun(
        preset=preset,
        question="q",
        question_hash="h",
        kind="",
        config_hash="c",
        job_id="j",
        status="done",
        right=("a",),
        answer="a",
        exact=True,
        f1=1.0,
        verdict="correct",
        roles={"planner": RoleUsage(calls=1, output_tokens=output), **spent},
    )


def test_what_faults_added_is_compared_with_replanning_the_whole_plan():
    clean = [line("full-horizon", 1000), line("tdp", 1500)]
    faulty = [line("full-horizon", 1000, replanner=800), line("tdp", 1560, repairer=40)]

    whole, tdp = preset_fault_costs(clean, faulty)

    assert (whole.added_output, tdp.added_output) == (800, 100)
    assert tdp.added_against_global == pytest.approx(-87.5)
    assert (whole.deviation_output, tdp.deviation_output) == ({"replanner": 800}, {"repairer": 40})


def test_an_answer_without_a_report_is_not_right():
    done = line("tdp", 100)
    refused = done.model_copy(update={"status": "failed", "stop_reason": "report_refused"})

    (found,) = preset_fault_costs([done], [refused])

    assert (refused.exact, found.right) == (True, 50.0)


def test_a_report_over_much_evidence_has_as_many_findings_as_it_must():
    evidence = [{"id": f"E{n}", "quote": f"quote {n}"} for n in range(10)]
    task: Any = {"concludes": False, "answer": "a", "evidence": evidence, "gaps": []}

    much: Any = Oracle.of([]).play("synthesiser", task)
    little: Any = Oracle.of([]).play("synthesiser", {**task, "evidence": evidence[:9]})

    assert [each["text"] for each in much["findings"]] == [f"quote {n}" for n in range(5)]
    assert little["findings"] == little["answer"]


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.conformance("TDP-08")
def test_one_command_says_what_faults_cost_under_each_preset(data: Path):
    command = [
        sys.executable,
        "-m",
        "holdfast.evals.oracle",
        "composite",
        "--k",
        "2",
        "--limit",
        "1",
    ]

    ran = subprocess.run(
        [*command, "--slots", "1", "--data", str(data), "--out", str(data / "out"), "--json"],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr
    found = {each["preset"]: each for each in json.loads(ran.stdout)["economy"]}
    assert list(found) == list(PRESETS)
    assert all(each["right"] == 100 for each in found.values())
    # Two programs of two calls and a fault in each: nothing that was finished is called again.
    assert {each["tool_calls"] for each in found.values()} == {6}
    whole, tdp = found["full-horizon"], found["tdp"]
    assert (whole["replans"], tdp["replans"], found["research"]["replans"]) == (2, 0, 2)
    assert list(whole["deviation_output"]) == ["replanner"]
    assert set(tdp["deviation_output"]) == {"repairer", "reviser"} < set(DEVIATION_ROLES)
    assert 0 < sum(tdp["deviation_output"].values()) < whole["deviation_output"]["replanner"]
    assert tdp["added_output"] < whole["added_output"]
