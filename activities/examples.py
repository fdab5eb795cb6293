"""What the planner is shown of earlier jobs: plans that worked, as many as were wished and fit."""

from collections.abc import Collection

from models.jobs import JobRequest
from models.plan import Plan, TaskKind
from models.strategy import Grain, Strategy
from planning.tokens import estimate_tokens
from roles.planner import PlanExample
from storage.database import Database
from storage.demonstrations import similar

EXAMPLE_TOKENS = 2000
"""A longer example is passed over."""
ALL_TOKENS = 8000
"""No more is added to a planner's prompt."""
_CANDIDATES = 4
"""Times as many are looked at: some are too long, or need tools that are gone."""


async def examples_for(
    db: Database, job_id: str, request: JobRequest, tools: Collection[str]
) -> tuple[PlanExample, ...]:
    """The examples for a job that may use these tools, the most similar question first."""
    wished = request.strategy.demonstrations
    if wished == 0:
        return ()
    left = ALL_TOKENS
    examples: list[PlanExample] = []
    for found in await similar(db, job_id, request, wished * _CANDIDATES):
        if not _is_of_the_kind(found.plan, request.strategy):
            continue
        example = PlanExample.of(found.question, found.plan)
        size = estimate_tokens(example.model_dump_json())
        if size > min(left, EXAMPLE_TOKENS) or not _can_be_made(found.plan, tools):
            continue
        left -= size
        examples.append(example)
        if len(examples) == wished:
            break
    return tuple(examples)


def _can_be_made(plan: Plan, tools: Collection[str]) -> bool:
    return all(task.tool in tools for task in plan.tasks if task.tool)


def _is_of_the_kind(plan: Plan, strategy: Strategy) -> bool:
    """Whether it is made of what the planner is to make its own of: calls, or sub-questions."""
    if strategy.grain is Grain.NODES:
        return plan.is_graph
    return not any(task.kind is TaskKind.AGENT for task in plan.tasks)
