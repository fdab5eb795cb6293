"""Check a fork's edited plan against the tools and agents that the fork may use."""

from holdfast.client import Holdfast
from holdfast.configuration.builtin_tool_servers import open_builtin_servers
from holdfast.configuration.configured_agents import read_agents
from holdfast.models.error_fields import error_field
from holdfast.models.errors import BadInput
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.plans.plan_change import PlanChange
from holdfast.models.plans.plan_change_cause import PlanChangeCause
from holdfast.models.plans.research_plan import Plan, TaskStatus
from holdfast.planning.context.replan_scope import rules_for_plan
from holdfast.planning.plans.fork_scope import reworded_tasks
from holdfast.planning.plans.plan_edits import edit_change, editable_plan, parse_plan
from holdfast.planning.plans.plan_validation import plan_faults
from holdfast.planning.plans.tool_fitting import fit_to_tools
from holdfast.records.fork_submission import ForkSubmission
from holdfast.storage.corpus.corpus_store import CorpusStore
from holdfast.tools.mcp.server_config import read_servers
from holdfast.tools.mcp.tool_hub import Hub


async def plan_change_of(
    holdfast: Holdfast, submission: ForkSubmission, request: JobRequest, plan: Plan, by: str
) -> PlanChange | None:
    """The change that makes the fork's plan of the forked job's plan; None without a change.

    Raises:
        NotFound: the plan has no task that is described otherwise.
        BadInput: the text is no plan, or the plan cannot run; each fault is named with its task.
    """
    if not submission.changes_plan:
        return None
    if submission.plan is not None and submission.questions:
        raise BadInput("give the edited plan or other questions of tasks, not both", field="plan")
    if submission.plan is None:
        changes = reworded_tasks(plan, submission.questions)
        return PlanChange(
            cause=PlanChangeCause.EDITED, changed=changes, explanation=_explanation(by)
        )
    stored = editable_plan(plan)
    if not stored.tasks:
        raise BadInput("the job has no plan to edit; change its question by submitting another job")
    with error_field("plan"):
        edited = await _checked_plan(holdfast, request, plan, submission.plan)
    return edit_change(stored, edited, _explanation(by))


async def _checked_plan(holdfast: Holdfast, request: JobRequest, plan: Plan, text: str) -> Plan:
    settings = holdfast.settings
    servers = read_servers(settings.config_file) if settings.config_file else {}
    agents = read_agents(settings.config_file)
    async with (
        open_builtin_servers(settings, CorpusStore(holdfast.db)) as builtin,
        Hub(servers, builtin) as hub,
    ):
        signatures = await hub.for_job(request).signatures()
    superseded = (task.id for task in plan.tasks if task.status is TaskStatus.SUPERSEDED)
    opening = next((task for task in plan.live if task.is_opening), None)
    usable = agents.usable_agents(signatures)
    rules = rules_for_plan(request, signatures, usable, frozenset(superseded), opening)
    edited = fit_to_tools(parse_plan(text), rules.tools, rules.agents)
    if faults := plan_faults(edited, rules):
        raise BadInput("; ".join(faults))
    return edited


def _explanation(by: str) -> str:
    return f"edited by {by} for a fork" if by else "edited for a fork"
