"""Tests for when a report is written by groups, and which tasks make a group."""

import pytest

from holdfast.models.plans.research_plan import Task, TaskKind
from holdfast.planning.reports.report_groups import groups_of, needs_groups
from tests.support.jobs.plan_builders import final_task, lookup_task


@pytest.mark.conformance("VMAO-10")
@pytest.mark.parametrize(
    ("characters", "results", "is_needed"),
    [
        (14_999, 1, False),
        (15_000, 1, False),
        (15_001, 1, True),
        (0, 9, False),
        (0, 10, True),
        (15_000, 9, False),
    ],
)
def test_over_15000_characters_or_from_10_results_on_there_are_groups(
    characters: int, results: int, is_needed: bool
) -> None:
    assert needs_groups(characters, results) is is_needed


@pytest.mark.conformance("VMAO-10")
def test_a_group_is_of_an_agent_or_else_of_a_tool_or_of_deductions() -> None:
    agent = Task(id="T1", kind=TaskKind.AGENT, description="find", agent="web")
    same = agent.model_copy(update={"id": "T3"})

    groups = groups_of([agent, lookup_task("T2"), same, final_task("T4")])

    assert groups == {"web": ("T1", "T3"), "lab.wikipedia_search": ("T2",), "reasoning": ("T4",)}
