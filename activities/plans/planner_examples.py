"""Choose plans of earlier jobs as examples for the planner, within a token limit."""

from collections.abc import Collection
from functools import partial

from holdfast.activities.runtime.text_similarity import TextSimilarity
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.plans.research_plan import Plan, TaskKind
from holdfast.models.strategies.job_strategy import Grain, Strategy
from holdfast.planning.text.token_estimates import estimate_tokens
from holdfast.roles.planning.planner import PlanExample
from holdfast.storage.core.database import Database
from holdfast.storage.plans.plan_example_queries import find_similar_plans

MAX_TOKENS_PER_EXAMPLE = 2000
"""The maximum tokens of one example; longer examples are left out."""
MAX_TOKENS_OF_ALL_EXAMPLES = 8000
"""The maximum tokens of all examples in a planner's prompt."""
_CANDIDATES = 4
"""Times as many plans are loaded: some are too long, or need tools that are missing."""


async def examples_for(
    db: Database,
    job_id: str,
    request: JobRequest,
    tools: Collection[str],
    similarity: TextSimilarity | None = None,
) -> tuple[PlanExample, ...]:
    """Return examples for a job that may use these tools, the most similar question first.

    Similar by meaning where a model can tell, otherwise by the rare words that are shared. Without
    earlier jobs the model is not asked, and not loaded.
    """
    wanted = request.strategy.demonstrations
    if wanted == 0:
        return ()
    left = MAX_TOKENS_OF_ALL_EXAMPLES
    examples: list[PlanExample] = []
    by_meaning = partial(similarity.by_nearness, request.question) if similarity else None
    for found in await find_similar_plans(db, job_id, request, wanted * _CANDIDATES, by_meaning):
        if not _matches_grain(found.plan, request.strategy):
            continue
        example = PlanExample.of(found.question, found.plan)
        size = estimate_tokens(example.model_dump_json())
        if size > min(left, MAX_TOKENS_PER_EXAMPLE) or not _has_all_tools(found.plan, tools):
            continue
        left -= size
        examples.append(example)
        if len(examples) == wanted:
            break
    return tuple(examples)


def _has_all_tools(plan: Plan, tools: Collection[str]) -> bool:
    return all(task.tool in tools for task in plan.tasks if task.tool)


def _matches_grain(plan: Plan, strategy: Strategy) -> bool:
    """True if the example has the kind of tasks that the planner should write."""
    if strategy.grain is Grain.AGENTS:
        return plan.is_graph
    return not any(task.kind is TaskKind.AGENT for task in plan.tasks)
