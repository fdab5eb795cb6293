"""Tests for the papers' comparisons: faults by rate, servers by name, and one command a paper."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from holdfast.evals.oracle.gold_programs import GoldProgram, GoldStep
from holdfast.evals.oracle.joined_questions import compose_question
from holdfast.evals.papers.paper_comparisons import with_fault_rate, with_server
from holdfast.models.errors import BadInput
from tests.evals.test_composite_questions import KB, PEOPLE, row


def program(steps: int) -> GoldProgram:
    made = GoldStep("facts.lookup", {"question": "q"}, {}, "answer", "string")
    return GoldProgram("p", "q", (made,) * steps, "a", "", ends=(0,))


@pytest.mark.conformance("EVA-05")
def test_faults_come_with_the_rate_and_the_same_seed_draws_the_same():
    golds = [program(50), program(50)]

    none, some, all_ = (with_fault_rate(golds, rate) for rate in (0.0, 0.3, 1.0))

    assert [len(each.wrong) for each in none] == [0, 0]
    assert [len(each.wrong) for each in all_] == [50, 50]
    assert 15 < sum(len(each.wrong) for each in some) < 45
    assert some == with_fault_rate(golds, 0.3) != with_fault_rate(golds, 0.3, seed=2)
    with pytest.raises(BadInput, match=r"--fault-rate takes a number from 0 to 1, not 1\.5"):
        with_fault_rate(golds, 1.5)


def test_the_calls_of_parts_are_those_of_the_named_server():
    [found] = with_server([compose_question([program(1), program(2)])], "web")

    tools = {step.tool for each in (found, *found.parts) for step in each.steps}
    assert tools == {"web.lookup"}


def run(data: Path, *arguments: str) -> dict[str, Any]:
    ran = subprocess.run(
        [sys.executable, "-m", "holdfast.evals.papers", *arguments, "--data", str(data), "--json"],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.conformance("EVA-05")
@pytest.mark.long
def test_one_command_a_paper_plays_every_arm_to_its_right_end(tmp_path: Path):
    kopl, facts = tmp_path / "kopl_mini", tmp_path / "fanoutqa"
    kopl.mkdir()
    facts.mkdir()
    (kopl / "lab_kb.json").write_text(json.dumps(KB))
    rows = [row(at, name) for at, name in enumerate(PEOPLE.values())]
    (kopl / "lab_questions.jsonl").write_text("\n".join(map(json.dumps, rows)))
    looked_up = {"root": "r", "id": "f", "question": "Who keeps it?", "answer": "Dahl"}
    (facts / "oracle_facts.jsonl").write_text(json.dumps({**looked_up, "depends_on": []}))
    asked = {"id": "r", "question": "Who is the keeper?", "answer": "Dahl"}
    (facts / "dev310.jsonl").write_text(json.dumps(asked))

    chain = run(tmp_path, "kpi-chain", "--fault-rate", "1")
    horizon = run(tmp_path, "horizon", "--limit", "1", "--fault-rate", "1")
    vmao = run(tmp_path, "vmao", "--limit", "1")

    exact = {
        name: {each["preset"]: each["exact_match"] for each in found["figures"]}
        for name, found in (("chain", chain), ("horizon", horizon), ("vmao", vmao))
    }
    assert exact == {
        "chain": {"kpi-chain": 100, "full-horizon": 100, "single-step": 100},
        "horizon": {
            "full-horizon": 100,
            "full-horizon, strict tools": 100,
            "single-step": 100,
            "single-step, strict tools": 100,
        },
        "vmao": {"vmao": 100, "single-agent": 100, "static-pipeline": 100},
    }
    by_preset = {each["preset"]: each for each in chain["figures"]}
    assert [by_preset[name]["replans"] for name in ("kpi-chain", "single-step")] == [1, 0]
    assert "extractor" in by_preset["kpi-chain"]["roles"]
    by_arm = {each["preset"]: each for each in horizon["figures"]}
    strict = by_arm["full-horizon, strict tools"]
    assert by_arm["full-horizon"]["replans"] == 0 < strict["replans"]
    assert "matcher" in by_arm["full-horizon"]["roles"].keys() - strict["roles"].keys()
    assert all(each["depth"] and each["breadth"] for each in horizon["figures"])
