"""Build tasks and plans for tests in a few words."""

from collections.abc import Sequence

from holdfast.models.calls.tool_signatures import ToolSignature
from holdfast.models.plans.research_plan import (
    FIRST_QUERIES,
    EntityType,
    ExpectedEntity,
    Plan,
    Task,
    TaskInput,
    TaskKind,
)

SEARCH = ToolSignature(
    name="lab.wikipedia_search",
    description="Search.",
    input_schema={
        "type": "object",
        "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
        "required": ["query"],
    },
    read_only=True,
)
TOOLS = {SEARCH.name: SEARCH}


def lookup_task(
    task_id: str,
    *after: str,
    query: str = "q",
    yields: str = "value",
    kind: EntityType = EntityType.STRING,
    **fields: object,
) -> Task:
    """A tool task that promises one entity."""
    return Task(
        id=task_id,
        kind=TaskKind.TOOL,
        description=f"find {yields} for {task_id}",
        tool="lab.wikipedia_search",
        inputs=(TaskInput(name="query", value=query, is_reference="<JSON_PATH>" in query),),
        expects=(ExpectedEntity(name=yields, type=kind),),
        depends_on=after,
        **fields,
    )


def agent_task(
    task_id: str,
    *after: str,
    about: str = "",
    agent: str = "generalist",
    yields: str = "value",
    kind: EntityType = EntityType.STRING,
    queries: Sequence[str] = (),
    **fields: object,
) -> Task:
    """A sub-question that promises one entity; `queries` are its first searches."""
    first = TaskInput(name=FIRST_QUERIES, type=EntityType.ARRAY, value=[*queries])
    return Task(
        id=task_id,
        kind=TaskKind.AGENT,
        description=about or f"find {yields} for {task_id}",
        agent=agent,
        inputs=(first.with_reference_flag(),) if queries else (),
        expects=(ExpectedEntity(name=yields, type=kind),),
        depends_on=after,
        include_context=True,
        **fields,
    )


def final_task(task_id: str, *after: str, **fields: object) -> Task:
    """The last task: takes a value of each task it waits for."""
    return Task(
        id=task_id,
        kind=TaskKind.REASONING,
        description="answer",
        inputs=tuple(
            TaskInput(name=f"from_{name}", value=result_reference(name), is_reference=True)
            for name in after
        ),
        expects=(ExpectedEntity(name="final_answer"),),
        depends_on=after,
        **fields,
    )


def result_reference(task_id: str, entity: str = "value") -> str:
    return f"<JSON_PATH>{task_id}.{entity}</JSON_PATH>"


def plan(*tasks: Task) -> Plan:
    return Plan(tasks=tasks)
