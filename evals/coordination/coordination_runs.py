"""Run the cases of the coordination benchmark under its three arms, with matched conditions."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

from holdfast.evals.coordination.coordination_cases import CoordinationCase
from holdfast.evals.coordination.scripted_team import PromptSightings, ScriptedTeam
from holdfast.evals.oracle.oracle_runs import PLAYED_MODEL, run_with_player, server_table
from holdfast.evals.presets.preset_comparison import ArmVariant, PresetComparison, preset_arms
from holdfast.evals.presets.run_records import PresetArm, QuestionRun
from holdfast.models.errors import BadInput

COORDINATED, UNVERIFIED, ALONE = "vmao", "vmao, no verification", "single-agent"
"""The arms: a team that verifies, the same without verification, and one agent."""

SETTINGS: Mapping[str, JsonValue] = {
    # The same in all arms. Two calls an agent stand for what one agent can hold in view.
    "begins_with": "plan",
    "agent_method": "steps",
    "extraction": False,
    "confidence_threshold": "none",
    "check_sentences": False,
    "max_agent_calls": 2,
    "max_tool_calls": 50,
    "max_agent_steps": 60,
    "max_identical_calls": "none",
    "max_replans_per_task": 0,
    "on_exhausted": "continue",
    "ready_threshold": 1.0,
    "high_confidence": 1.0,
    "slots": 3,
}
_MAY_DIFFER = frozenset({"verify", "fixed_agents"})
_SERVER = "holdfast.evals.oracle.fact_lookup_server"


class CoordinationRuns(NamedTuple):
    """What came of the cases."""

    runs: list[QuestionRun]
    sightings: PromptSightings
    comparison: str
    """The hash of arms, questions and repeats."""


def coordination_arms() -> tuple[PresetArm, ...]:
    """The three arms, checked to differ only in what they compare.

    Raises:
        BadInput: another setting differs as well.
    """
    team = preset_arms(
        [COORDINATED],
        PLAYED_MODEL,
        "",
        SETTINGS,
        [ArmVariant("no verification", {"verify": False})],
    )
    arms = (*team, *preset_arms([ALONE], PLAYED_MODEL, "", SETTINGS))
    check_matched_arms(arms)
    return arms


def check_matched_arms(arms: Sequence[PresetArm]) -> None:
    """Refuse arms whose model or settings differ in more than verification and the fixed agent.

    Raises:
        BadInput: names the arms and what differs.
    """
    first = arms[0]
    for arm in arms[1:]:
        differing = {
            name
            for name in {*first.strategy, *arm.strategy}
            if first.strategy.get(name) != arm.strategy.get(name)
        } - _MAY_DIFFER
        if arm.model != first.model:
            differing.add("model")
        if differing:
            raise BadInput(
                f"arms {first.name!r} and {arm.name!r} are not matched: "
                f"{', '.join(sorted(differing))} differ; give all arms the same"
            )


def run_coordination(cases: Sequence[CoordinationCase], out: Path, slots: int) -> CoordinationRuns:
    """A line for each case under each arm; a folder of an earlier run is continued.

    Raises:
        BadInput: the arms are not matched, or what is kept was run under other conditions.
    """
    team = ScriptedTeam(cases)
    comparison = PresetComparison([each.asked for each in cases], coordination_arms(), slots)
    out.mkdir(parents=True, exist_ok=True)
    runs = run_with_player(team, comparison, _servers(cases, out), out)
    return CoordinationRuns(runs, team.sightings, comparison.hash)


def _servers(cases: Iterable[CoordinationCase], out: Path) -> str:
    """An MCP server for each counter, which answers the look-ups that are its own."""
    by_counter: dict[str, list[str]] = {}
    for case in cases:
        for fact in case.facts:
            row = json.dumps({"question": fact.question, "answer": fact.answer})
            by_counter.setdefault(fact.counter, []).append(row)
    tables = []
    for counter, rows in by_counter.items():
        file = out / f"{counter}.jsonl"
        file.write_text("\n".join(rows), encoding="utf-8")
        tables.append(server_table(counter, _SERVER, file))
    return "".join(tables)
