"""Add the cited loop that a job begins with, before anything is planned."""

from dataclasses import dataclass
from functools import partial

from holdfast.activities import interfaces
from holdfast.activities.interfaces import implements
from holdfast.activities.plans.plan_records import planned_record
from holdfast.activities.plans.planning_halts import planning_error_halt, record_planning_halt
from holdfast.activities.runtime.activity_frame import Record, work_once
from holdfast.activities.runtime.activity_services import Services
from holdfast.models.errors import Lasting
from holdfast.models.jobs.activity_orders import AttemptOrder
from holdfast.models.jobs.job_state import PlanReceipt
from holdfast.models.strategies.job_strategy import GENERALIST
from holdfast.models.wire import stored_keys
from holdfast.models.wire.role_names import RoleName
from holdfast.planning.strategies.fixed_plans import opening_plan
from holdfast.storage.plans import task_queries

_EXPLANATION = "one agent searches and answers first; a plan is made for what it leaves open"


@dataclass(frozen=True)
class OpeningActivities:
    """The activity that adds the opening loop to a job's plan."""

    services: Services

    @implements(interfaces.begin_loop)
    async def begin_loop(self, order: AttemptOrder) -> PlanReceipt:
        db, work = self.services.db, partial(self._opened, order)
        return await work_once(db, order, stored_keys.LOOP_RECEIPT, PlanReceipt, work)

    async def _opened(self, order: AttemptOrder) -> Record[PlanReceipt]:
        services = self.services
        request = await services.requests.of(order)
        try:
            services.hub.for_job(request)  # refuses servers that do not exist
        except Lasting as error:
            halt = planning_error_halt(error, RoleName.PLANNER.value)
            return partial(record_planning_halt, halt, 0)
        before = await task_queries.load_plan(services.db, order.job_id)
        plan = opening_plan(request.question, GENERALIST)
        return await planned_record(
            services, order, request, before, plan, explanation=_EXPLANATION
        )
