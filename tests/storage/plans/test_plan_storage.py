"""Tests that a task survives the round trip through YAML, JSON and PostgreSQL unchanged (KPI-01)."""

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.plans.kpi_chain_format import from_listing, to_listing
from holdfast.models.plans.plan_change import PlanChange
from holdfast.models.plans.plan_change_cause import PlanChangeCause
from holdfast.models.plans.plan_drafts import PlanDraft
from holdfast.models.plans.research_plan import (
    EntityType,
    ExpectedEntity,
    Plan,
    Task,
    TaskInput,
    TaskKind,
    TaskStatus,
)
from holdfast.models.strategies.job_strategy import Strategy
from holdfast.storage.core.database import Database
from holdfast.storage.jobs import job_rows
from holdfast.storage.plans import plan_change_rows, task_queries

words = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=30)
names = st.text(st.sampled_from("abcxyz_"), min_size=1, max_size=12)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)
tasks = st.builds(
    Task,
    id=st.just("T1"),
    kind=st.sampled_from(TaskKind),
    description=words,
    criteria=words,
    tool=words,
    inputs=st.lists(
        st.builds(TaskInput, name=names, type=st.sampled_from(EntityType), value=values), max_size=3
    ).map(tuple),
    expects=st.lists(
        st.builds(ExpectedEntity, name=names, type=st.sampled_from(EntityType), description=words),
        max_size=3,
    ).map(tuple),
    depends_on=st.lists(names, unique=True, max_size=3).map(tuple),
    priority=st.integers(1, 10),
    include_context=st.booleans(),
    status=st.sampled_from(TaskStatus),
    result=st.dictionaries(names, values, max_size=2),
)


@pytest.mark.conformance("KPI-01")
@given(tasks)
def test_a_task_survives_json_and_yaml_under_the_names_of_listing_1(task: Task) -> None:
    listing = to_listing(task)

    assert from_listing(json.loads(json.dumps(listing))) == task
    assert from_listing(yaml.safe_load(yaml.safe_dump(listing))) == task
    assert Task.model_validate_json(task.model_dump_json()) == task


@pytest.fixture
async def db(database_url: str):
    database = Database(database_url)
    yield database
    await database.close()


async def stored(db: Database, job_id: str, plan: Plan) -> Plan:
    request = JobRequest(question="?", preset="kpi-chain", model="m", strategy=Strategy())
    await job_rows.submit_job(db, job_id, request, None)
    change = PlanChange(cause=PlanChangeCause.PLANNED, added=plan.tasks)
    async with db.job(job_id) as write:
        await plan_change_rows.store_change(write, Plan(), change)
    return await task_queries.load_plan(db, job_id)


@pytest.mark.conformance("KPI-01")
async def test_a_plan_survives_postgresql(db: Database) -> None:
    task = Task(
        id="T1",
        kind=TaskKind.TOOL,
        description="find “it”, 見つける",
        criteria="all of it",
        tool="lab.search",
        inputs=(
            TaskInput(name="query", value="a <JSON_PATH>T0.x[*]</JSON_PATH>", is_reference=True),
            TaskInput(name="deep", type=EntityType.DICT, value={"a": [1, 2.5, None, {"b": False}]}),
        ),
        expects=(
            ExpectedEntity(name="x", type=EntityType.ARRAY, description="all x", required=False),
            ExpectedEntity(name="n", type=EntityType.NUMBER),
        ),
        depends_on=("T0",),
        priority=9,
        include_context=True,
    )
    before = task.model_copy(update={"id": "T0", "depends_on": ()})

    loaded = await stored(db, "job-1", Plan(tasks=(before, task)))

    assert loaded.tasks == (before, task)


@pytest.mark.conformance("KPI-01")
def test_a_draft_in_the_words_of_the_kpi_chain_paper_is_the_same_task() -> None:
    task = Task(
        id="T1",
        kind=TaskKind.TOOL,
        description="d",
        tool="t",
        inputs=(TaskInput(name="query", value="q"),),
        expects=(ExpectedEntity(name="e", type=EntityType.INTEGER, description="x"),),
    )

    drafted = PlanDraft.model_validate({"tasks": [to_listing(task)]}).to_plan()

    assert drafted.tasks == (task,)
