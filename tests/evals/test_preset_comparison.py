"""Tests for the comparison of presets: equal conditions, kept lines, verdicts, figures, and a
whole run."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from holdfast.cli.commands.evaluation_commands import EvaluationOptions, evaluate_command
from holdfast.configuration.calibration_settings import read_calibrations
from holdfast.evals.measures.question_files import EvaluationQuestion, read_questions
from holdfast.evals.presets.answer_judge import (
    NOT_JUDGED,
    JudgeVerdict,
    judge_answer,
    judge_by_rules,
    numbers_in,
)
from holdfast.evals.presets.comparison_output import comparison_svg, comparison_table_lines
from holdfast.evals.presets.comparison_summary import preset_figures, token_ratio
from holdfast.evals.presets.preset_comparison import (
    ArmVariant,
    ComparisonRunner,
    PresetComparison,
    preset_arms,
)
from holdfast.evals.presets.run_records import (
    PresetArm,
    QuestionRun,
    RoleUsage,
    RunRecords,
    question_hash,
)
from holdfast.models.calls.call_progress import CallProgress
from holdfast.models.calls.model_requests import Completion, ModelRequest
from holdfast.models.errors import BadInput, HoldfastError, ModelBusy
from tests.evals.test_citation_measure import QUESTION_ROWS
from tests.support.endpoints.scripted_roles import ScriptedRoles
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow


def question(name: str = "one", text: str = "Who?", right: str = "Pell") -> EvaluationQuestion:
    return EvaluationQuestion(name, text, (right,), "bridge", ())


def run(preset: str, name: str = "one", **told: Any) -> QuestionRun:
    usual: dict[str, Any] = {
        "question_hash": question_hash(question(name)),
        "kind": "bridge",
        "config_hash": "c",
        "job_id": "job",
        "status": "done",
        "right": ("Pell",),
        "answer": "Pell",
        "exact": True,
        "f1": 1.0,
        "verdict": "correct",
        "roles": {"planner": RoleUsage(calls=1, input_tokens=100, output_tokens=10)},
    }
    return QuestionRun(preset=preset, question=name, **(usual | told))


def kept(path: Path, *runs: QuestionRun, model: str = "m") -> tuple[PresetArm, ...]:
    records = RunRecords.open(path)
    arms = preset_arms(("kpi-chain",), model, "", {})
    records.begin(arms)
    for each in runs:
        records.add(each)
    return arms


@pytest.mark.conformance("WAVE-13")
def test_each_arm_of_a_comparison_has_the_hash_of_its_own_configuration():
    def hashes(model: str = "m", **changes: Any) -> list[str]:
        return [each.config_hash for each in preset_arms(("vmao", "tdp"), model, "", changes)]

    usual = hashes()

    assert len({*usual, *hashes("other"), *hashes(slots=5)}) == 6
    assert hashes() == usual


@pytest.mark.conformance("WAVE-13")
def test_a_comparison_has_the_hash_of_its_questions_and_repeats():
    arms = preset_arms(("vmao", "tdp"), "m", "", {})

    def comparison(*questions: EvaluationQuestion, repeats: int = 1) -> str:
        return PresetComparison(questions, arms, repeats=repeats).hash

    one, other = question(), question(text="Where?")
    assert len({comparison(one), comparison(other), comparison(one, repeats=3)}) == 3
    assert comparison(one, other) == comparison(other, one)


def test_what_is_kept_is_read_again(tmp_path: Path):
    path = tmp_path / "runs.jsonl"
    (arm,) = kept(path, run("kpi-chain"))

    assert RunRecords.open(path).done(arm, question()) == run("kpi-chain")
    assert RunRecords.open(path).done(arm, question("two")) is None


def test_a_line_that_was_cut_off_is_dropped_and_written_again(tmp_path: Path):
    path = tmp_path / "runs.jsonl"
    (arm,) = kept(path, run("kpi-chain"), run("kpi-chain", "two"))
    path.write_text(path.read_text()[:-40])

    records = RunRecords.open(path)
    records.add(run("kpi-chain", "two"))

    assert records.done(arm, question()) is not None
    assert len(RunRecords.open(path).runs) == 2


def test_another_model_is_refused_by_name(tmp_path: Path):
    path = tmp_path / "runs.jsonl"
    kept(path)

    with pytest.raises(BadInput, match="model was 'm' and is 'other'"):
        kept(path, model="other")


def test_a_changed_setting_is_refused_by_name(tmp_path: Path):
    path = tmp_path / "runs.jsonl"
    kept(path)

    with pytest.raises(BadInput, match="setting slots was 3 and is 5"):
        RunRecords.open(path).begin(preset_arms(("kpi-chain",), "m", "", {"slots": 5}))


def test_another_question_under_the_same_id_is_refused(tmp_path: Path):
    path = tmp_path / "runs.jsonl"
    (arm,) = kept(path, run("kpi-chain"))

    with pytest.raises(BadInput, match="is not the one given now"):
        RunRecords.open(path).done(arm, question(text="Why?"))


def test_a_file_that_is_something_else_is_refused(tmp_path: Path):
    path = tmp_path / "runs.jsonl"
    path.write_text('{"line": "note"}\n')

    with pytest.raises(BadInput, match="line 1 of"):
        RunRecords.open(path)


@pytest.mark.parametrize(
    ("answer", "right", "label"),
    [
        ("The Pell!", "pell", "correct"),
        ("3.6", "36", "incorrect"),
        ("-5", "5", "incorrect"),
        ("1,200", "1200", "correct"),
        ("5.0", "5", "correct"),
        ("Apollo 11", "Ocean's 11", None),
        ("height 3.6 m", "height 36 m", None),
        ("yes", "no", "incorrect"),
        ("", "no", "refusal"),
        ("Imogen Pell", "Pell", None),
    ],
)
def test_rules_judge_only_what_words_and_numbers_decide(answer: str, right: str, label: str | None):
    verdict = judge_by_rules(answer, (right,))

    assert (verdict.label if verdict else None) == label


def test_numbers_keep_their_sign_and_point():
    assert numbers_in("−3.5 of 1,000 since 2001") == [-3.5, 1000.0, 2001.0]
    assert numbers_in("F16 v2.0.1") == []


class Said:
    """A judge's model: replies, or is busy."""

    def __init__(self, text: str | None) -> None:
        self.text = text

    async def complete(
        self, request: ModelRequest, progress: CallProgress | None = None
    ) -> Completion:
        if self.text is None:
            raise ModelBusy("no")
        return Completion(text=self.text, model=request.model)


async def test_a_judge_is_asked_what_no_rule_decides():
    said = Said('{"label": "partially_correct", "reason": "one is missing"}')

    assert await judge_answer("Who?", "Imogen", ("Pell",), said, "j") == JudgeVerdict(
        "partially_correct", "j"
    )
    assert await judge_answer("Who?", "Pell", ("Pell",), said, "j") == JudgeVerdict(
        "correct", "rules"
    )


async def test_a_judge_that_fails_leaves_the_answer_not_judged():
    assert await judge_answer("Who?", "Imogen", ("Pell",), Said(None), "j") == JudgeVerdict(
        NOT_JUDGED, "j"
    )
    assert await judge_answer("Who?", "Imogen", ("Pell",), Said("so so"), "j") == JudgeVerdict(
        NOT_JUDGED, "j"
    )
    assert await judge_answer("Who?", "Imogen", ("Pell",), None, "") == JudgeVerdict(NOT_JUDGED)


def test_presets_that_answered_different_questions_are_not_compared():
    with pytest.raises(BadInput, match="1 questions of 'a' were not asked under 'b'"):
        preset_figures([run("a"), run("a", "two"), run("b")])


def test_figures_count_what_was_spent_and_what_it_took_to_recover():
    (found,) = preset_figures(
        [
            run("a", replans=2, failures={"tool": 2}, repeated_calls=1),
            run("a", "two", answer="", exact=False, f1=0.0, replans=3, verdict="refusal"),
        ]
    )

    assert (found.exact_match, found.answered, found.f1_of_answered) == (50, 50, 100)
    assert found.answered_after == {"0": 0, "1": 0, "2": 1, "3": 0, "more": 0}
    assert (found.with_repeats, found.failures) == (50, {"tool": 2})
    assert found.roles["planner"] == RoleUsage(calls=2, input_tokens=200, output_tokens=20)
    assert (found.input_tokens, found.output_tokens) == (100, 10)


def test_the_ratio_is_of_the_sums():
    step = {"stepper": RoleUsage(calls=4, input_tokens=450, output_tokens=5)}

    found = token_ratio([run("full-horizon"), run("single-step", roles=step)])

    assert found is not None
    assert (found.input_tokens, found.output_tokens, found.model_calls) == (4.5, 0.5, 4.0)
    assert token_ratio([run("full-horizon")]) is None


def test_a_ratio_of_nothing_is_none():
    free = {"planner": RoleUsage(calls=1)}

    found = token_ratio([run("full-horizon", roles=free), run("single-step", roles=free)])

    assert found is not None
    assert found.input_tokens is None
    assert "counted no tokens" in list(comparison_table_lines([], found))[-1]


def test_the_figure_shows_every_preset():
    picture = comparison_svg(preset_figures([run("a<b"), run("single-step")]), "x & y")

    assert "a&lt;b" in picture
    assert "x &amp; y" in picture
    assert picture.count("single-step") == picture.count("a&lt;b") == 9


@pytest.mark.conformance("HZN-09")
async def test_tokens_and_their_ratio_come_out_of_one_comparison(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools, tmp_path: Path
):
    tools.answers = lambda argument: f"[{argument}]"
    players.plan = plan(lookup_task("T1"), final_task("T2", "T1"))
    asked = [question("one", "Who?"), question("two", "Where? " * 400)]
    arms = preset_arms(("full-horizon", "single-step"), "scripted", "", {})
    records = RunRecords.open(tmp_path / "runs.jsonl")

    runs = await ComparisonRunner(engine.holdfast, records).compare(PresetComparison(asked, arms))

    found = preset_figures(runs)
    assert [(each.preset, each.questions) for each in found] == [
        ("full-horizon", 2),
        ("single-step", 2),
    ]
    assert all(each.input_tokens > 0 < each.output_tokens for each in found)
    assert {"planner", "stepper"} <= {role for each in found for role in each.roles}
    compared = token_ratio(runs)
    assert compared is not None
    wanted = found[1].input_tokens / found[0].input_tokens
    assert compared.input_tokens == pytest.approx(wanted)
    assert (
        f"{wanted:.2f} times the input tokens" in list(comparison_table_lines(found, compared))[-1]
    )


@pytest.mark.long
async def test_what_is_kept_is_not_asked_again(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools, tmp_path: Path
):
    tools.answers = lambda argument: f"[{argument}]"
    players.plan = plan(lookup_task("T1"), final_task("T2", "T1"))
    arms = preset_arms(("full-horizon",), "scripted", "", {})
    path = tmp_path / "runs.jsonl"
    wanted = PresetComparison([question()], arms)

    (first,) = await ComparisonRunner(engine.holdfast, RunRecords.open(path)).compare(wanted)
    before = {name: len(asked) for name, asked in players.asked.items()}
    (again,) = await ComparisonRunner(engine.holdfast, RunRecords.open(path)).compare(wanted)

    assert again == first
    assert {name: len(asked) for name, asked in players.asked.items()} == before


@pytest.mark.conformance("EVA-02")
@pytest.mark.long
async def test_an_ablation_is_an_arm_with_three_runs_of_its_own(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools, tmp_path: Path
):
    tools.answers = lambda argument: f"[{argument}]"
    players.plan = plan(lookup_task("T1"), final_task("T2", "T1"))
    variants = [
        ArmVariant("no replanning", {"max_replans_per_task": "0"}),
        ArmVariant("the same", {}),
    ]
    arms = preset_arms(("full-horizon",), "scripted", "", {}, variants)
    wanted = PresetComparison([question("one"), question("two")], arms, repeats=3)
    path = tmp_path / "runs.jsonl"

    runs = await ComparisonRunner(engine.holdfast, RunRecords.open(path)).compare(wanted)

    names = ["full-horizon", "full-horizon, no replanning", "full-horizon, the same"]
    assert [each.preset for each in preset_figures(runs)] == names
    # Six jobs an arm, none of them shared, also between arms of the same settings.
    assert len({run.job_id for run in runs}) == 18
    assert RunRecords.open(path).runs.keys() == {
        (name, asked, repeat) for name in names for asked in ("one", "two") for repeat in (1, 2, 3)
    }
    worked = {run.arm: run.config_hash for run in runs}
    assert worked == dict(zip(names, (arm.config_hash for arm in arms), strict=True))
    assert worked[names[1]] != worked[names[0]] == worked[names[2]]
    assert wanted.hash != replace(wanted, arms=arms[:2]).hash != replace(wanted, repeats=1).hash
    assert wanted.hash == replace(wanted, questions=wanted.questions[::-1], slots=9).hash


@pytest.mark.conformance("EVA-02")
def test_runs_give_mean_deviation_and_bins():
    runs = [
        run("a", name, repeat=repeat, exact=is_right, f1=float(is_right), kind=kind, depth=depth)
        for repeat, rights in ((1, (True, True)), (2, (True, False)), (3, (False, False)))
        for (name, kind, depth), is_right in zip(
            (("one", "2 hops", 2), ("two", "3 hops", 5)), rights, strict=True
        )
    ]

    (figures,) = preset_figures(runs)

    assert (figures.questions, figures.repeats, figures.exact_match) == (2, 3, 50.0)
    assert figures.deviation["exact_match"] == pytest.approx(50.0)
    assert figures.tokens_a_right_answer == pytest.approx(6 * 110 / 3)
    assert [(each.by, each.value, each.runs, round(each.exact_match)) for each in figures.bins] == [
        ("kind", "2 hops", 3, 67),
        ("kind", "3 hops", 3, 33),
        ("depth", "2", 3, 67),
        ("depth", "4 or more", 3, 33),
    ]
    lines = list(comparison_table_lines([figures], None))
    assert "standard deviation over 3 runs" in lines
    with pytest.raises(BadInput, match="cannot be compared: 2 questions"):
        preset_figures([*runs, *(run("b", name) for name in ("one", "two"))])


@pytest.mark.conformance("EVA-02")
@pytest.mark.parametrize(
    ("arm", "reason"),
    [
        ("verify=false", "--arm takes a name and settings"),
        ("none: ", "--arm takes a name and settings"),
        ("no verification: verify_it=false", "verify_it"),
    ],
)
def test_an_arm_that_cannot_be_run_is_refused_before_anything_starts(
    tmp_path: Path, arm: str, reason: str
):
    data = tmp_path / "questions.json"
    data.write_text(json.dumps(QUESTION_ROWS))
    options = EvaluationOptions(
        ("vmao",), data, tmp_path / "out", None, "extractive", None, (), 4, arms=(arm,)
    )

    with pytest.raises(HoldfastError, match=reason):
        evaluate_command(options, json_output=False)


@pytest.mark.conformance("EVA-01")
def test_a_verdict_says_what_is_right_and_else_the_words_do() -> None:
    usual = {"confidence": 0.9, "route": "direct"}
    answers = [
        run("a", "one", answer="Imogen Pell", verdict="incorrect", **usual),
        run("a", "two", answer="Imogen Pell", verdict=NOT_JUDGED, **usual),
        run("a", "three", answer="Orva", verdict="correct", **usual),
        run("a", "four", answer="", **usual),
        run("a", "five"),
    ]

    (figures,) = preset_figures(answers)

    assert figures.confidence is not None
    assert (figures.confidence.answers, figures.confidence.sure_and_wrong) == (3, 1)
    (line,) = [each for each in comparison_table_lines([figures], None) if "AUROC" in each]
    assert "wrong at 0.7 or more: 1 of 3" in line


@pytest.mark.slow
@pytest.mark.conformance("EVA-01")
@pytest.mark.long
def test_three_questions_are_compared_by_the_command(tmp_path: Path):
    data = tmp_path / "questions.json"
    data.write_text(json.dumps(QUESTION_ROWS))
    out = tmp_path / "out"
    command = [sys.executable, "-m", "holdfast", "eval", "--presets", "kpi-chain,single-step"]
    command += ["--data", str(data), "--out", str(out), "--json", "--calibrate"]

    ran = subprocess.run(
        command, capture_output=True, text=True, timeout=170, check=False, env=_environment()
    )

    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert [each["questions"] for each in found["figures"]] == [3, 3]
    assert json.loads((out / "figures.json").read_text()) == found
    assert (out / "figures.svg").read_text().startswith("<svg")
    assert len(RunRecords.open(out / "runs.jsonl").runs) == 3 * 2
    assert {each.id for each in read_questions(data)} == {
        name for _, name, _ in RunRecords.open(out / "runs.jsonl").runs
    }
    runs = RunRecords.open(out / "runs.jsonl").runs.values()
    assert {run.route.value for run in runs if run.rated and run.route} >= {"chosen"}
    assert all(run.confidence <= 0.8 for run in runs if run.confidence is not None)
    assert "any" in read_calibrations(out / "calibration.toml")["extractive"]
    changed = subprocess.run(
        [*command, "--set", "slots=7"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=_environment(),
    )
    assert changed.returncode != 0
    assert "setting slots was 3 and is 7" in changed.stderr


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("HOLDFAST_")}
