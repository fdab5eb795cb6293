"""What the statuses of tasks and jobs mean."""

from holdfast.models.jobs.job_record import JobStatus
from holdfast.models.plans.research_plan import TaskStatus


def test_a_task_is_open_or_final_and_final_tasks_have_run_or_were_discarded() -> None:
    for status in TaskStatus:
        assert status.is_final is not status.is_open
        assert status.is_final == (status.has_run or status.is_discarded)
        assert not (status.has_run and status.is_discarded)


def test_a_task_that_needs_an_attempt_has_no_result_and_does_not_run() -> None:
    needing = {status for status in TaskStatus if status.needs_attempt}

    assert needing == {TaskStatus.PENDING, TaskStatus.FAILED}


def test_a_job_is_final_once_it_has_ended() -> None:
    final = {status for status in JobStatus if status.is_final}

    assert final == {JobStatus.DONE, JobStatus.FAILED, JobStatus.CANCELLED}
