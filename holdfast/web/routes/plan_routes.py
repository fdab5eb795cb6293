"""Define the form that edits the plan of a job that waits for approval."""

from collections.abc import Collection, Sequence

from fastapi import APIRouter, Request, Response

from holdfast.api.api_context import JobSession
from holdfast.api.problem_documents import status_of_error
from holdfast.configuration.configured_agents import read_agents
from holdfast.jobs.job_lookup import plan_of, plan_revision_of
from holdfast.jobs.open_questions import open_questions_of
from holdfast.jobs.written_texts import checked_words
from holdfast.models.errors import BadInput, HoldfastError, PlanMoved, ServiceDown, StorageAway
from holdfast.models.plans.research_plan import EntityType, Plan, TaskKind
from holdfast.models.questions.user_questions import QuestionKind
from holdfast.planning.questions.answer_choices import AnswerChoice
from holdfast.web.access.page_session import PageJob, SteeredPageJob
from holdfast.web.page_route import PageRoute
from holdfast.web.rendering.amounts import short_number
from holdfast.web.rendering.form_texts import form_texts
from holdfast.web.rendering.moved_plan_form import with_unused_ids
from holdfast.web.rendering.page_templates import page
from holdfast.web.rendering.plan_fault_places import place_faults
from holdfast.web.rendering.plan_form import (
    TaskFields,
    fields_of_plan,
    ids_to_name,
    read_task_fields,
    with_new_task,
    without_task,
    written_plan,
)
from holdfast.web.routes.control_routes import back_to_job, check_shown_plan
from holdfast.web.watch.job_head import load_job_head

_MAX_FIELDS = 50_000
_INDEX_DIGITS = 4
_FEW_TASKS = 4
"""All tasks of a plan of so many are open; of a longer plan, what was added or has faults."""

router = APIRouter(route_class=PageRoute)


@router.get("/jobs/{job}/plan")
async def show_plan_form(job: PageJob, request: Request) -> Response:
    """The tasks of the plan as fields."""
    await _approval_question(job)
    # A plan that changes between the two is then newer than its revision, and an edit of it is
    # refused. The other way round, the edit would count for a plan that nobody was shown.
    revision = str(await plan_revision_of(job.holdfast, job.id))
    stored = await plan_of(job.holdfast, job.id)
    return await _form_page(job, request, fields_of_plan(stored), stored, revision)


@router.post("/jobs/{job}/plan")
async def edit_plan_on_page(job: SteeredPageJob, request: Request) -> Response:
    """Run the plan that was written, or show the form with a task more or less."""
    question = await _approval_question(job)
    async with request.form(max_files=0, max_fields=_MAX_FIELDS) as sent:
        form = form_texts(sent)
    stored = await plan_of(job.holdfast, job.id)
    tasks, revision = read_task_fields(form, stored), form.get("revision", "")
    action, _, number = form.get("do", "").partition(":")
    if action == "run":
        return await _run_plan(job, request, question, tasks, stored, revision)
    place = short_number(number, _INDEX_DIGITS)
    index = len(tasks) if place is None else place
    opened: set[int] = {index} if action == "rows" else set()
    if action == "add":
        before = {each.id for each in tasks}
        tasks = with_new_task(tasks, stored.by_id)
        opened = {n for n, each in enumerate(tasks) if each.id not in before}
    elif action == "remove":
        tasks = without_task(tasks, index)
    return await _form_page(job, request, tasks, stored, revision, opened=opened)


async def _run_plan(
    job: JobSession,
    request: Request,
    question: int,
    tasks: Sequence[TaskFields],
    stored: Plan,
    revision: str,
) -> Response:
    """Answer the question with the plan that was written, or show the form with its faults."""
    try:
        await check_shown_plan(job, revision)
        words = checked_words(AnswerChoice.EDIT, written_plan(tasks, stored))
        await job.controller.answer(job.id, question, AnswerChoice.EDIT, words)
    except PlanMoved as error:
        # What was written stays, under ids that are free in the plan that there is now.
        revision = str(await plan_revision_of(job.holdfast, job.id))
        stored = await plan_of(job.holdfast, job.id)
        tasks = with_unused_ids(tasks, stored)
        return await _form_page(job, request, tasks, stored, revision, fault=error)
    except (BadInput, ServiceDown, StorageAway) as error:
        return await _form_page(job, request, tasks, stored, revision, fault=error)
    return back_to_job(job, "answered")


async def _approval_question(job: JobSession) -> int:
    for question in await open_questions_of(job.holdfast.db, job.id):
        if question.kind == QuestionKind.APPROVAL:
            return question.id
    raise BadInput(
        "the plan of this job does not wait for approval, so it cannot be edited; a fork of the "
        "job can run it with another plan"
    )


async def _form_page(
    job: JobSession,
    request: Request,
    tasks: Sequence[TaskFields],
    stored: Plan,
    revision: str,
    *,
    opened: Collection[int] = (),
    fault: HoldfastError | None = None,
) -> Response:
    placed = place_faults(str(fault), tasks) if fault else None
    of_fields = placed.of_fields if placed else {}
    shown = {*opened, *(place for place, _ in of_fields)}
    return page(
        request,
        "plan",
        tab="progress",
        code=status_of_error(fault) if fault else 200,
        view=await load_job_head(job.holdfast, job.id),
        tasks=tasks,
        ids=ids_to_name((each.id for each in tasks), stored),
        opened=shown if len(tasks) > _FEW_TASKS else set(range(len(tasks))),
        revision=revision,
        faults=placed.of_plan if placed else (),
        fields=of_fields,
        has_moved=isinstance(fault, PlanMoved),
        kinds=[*TaskKind],
        types=[*EntityType],
        tools=sorted({task.tool for task in stored.tasks if task.tool}),
        agents=sorted(read_agents(job.holdfast.settings.config_file).profiles),
    )
