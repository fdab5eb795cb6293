"""The workflow of one run of a schedule: submit the job, and stay open until the job has ended.

It stays open because Temporal's overlap policy asks whether the run before has ended. The job has a
workflow of its own, which is started again if it is lost, so it is no child of this one.
"""

from datetime import timedelta

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from holdfast.activities import interfaces
    from holdfast.models.schedules.schedule_orders import (
        RunScheduleOrder,
        ScheduledJobOrder,
        ScheduleOrder,
    )
    from holdfast.workflows.activity_calls import database_activity_config, work_activity_config

_FIRST_PAUSE = timedelta(seconds=10)
_LONGEST_PAUSE = timedelta(minutes=15)


@workflow.defn(name="scheduled_run")
class ScheduledRunWorkflow:
    """One run of a schedule."""

    @workflow.run
    async def run(self, order: ScheduleOrder) -> None:
        """Submit the job of the run, and wait until the job has ended."""
        receipt = await workflow.execute_activity(
            interfaces.run_schedule,
            RunScheduleOrder(schedule_id=order.schedule_id, run=workflow.info().workflow_id),
            # Reading the sources of a report again can take minutes.
            **work_activity_config("run", "submit the job of this run"),
        )
        if receipt.job_id is None:
            return
        looks, pause = 0, _FIRST_PAUSE
        while True:
            looks += 1
            ended = await workflow.execute_activity(
                interfaces.has_scheduled_job_ended,
                ScheduledJobOrder(job_id=receipt.job_id),
                **database_activity_config(f"look-{looks}", f"has {receipt.job_id} ended?"),
            )
            if ended:
                return
            if workflow.info().is_continue_as_new_suggested():
                workflow.continue_as_new(order)
            await workflow.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)
