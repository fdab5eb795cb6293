"""Let tool calls be sent again although nobody knows what became of an earlier identical call."""

from collections.abc import Sequence

from sqlalchemy import text

from holdfast.storage.core.database import JobTransaction

# A call of a task that runs may still be answered.
_RELEASE = text("""
    update tool_calls as unclear
    set status = 'failed', finished_at = coalesce(finished_at, now())
    where unclear.job_id = :job_id and unclear.status in ('started', 'unknown')
        and not exists (
            select from tasks
            where job_id = :job_id and id = unclear.task_id and status = 'running')
        and exists (
            select from tool_calls as same
            where same.job_id = :job_id and same.tool = unclear.tool
                and same.request_hash = unclear.request_hash and same.task_id in (
                    select id from tasks
                    where job_id = :job_id and (id = any(:named) or parent = any(:named))))
""")


async def release_unclear_calls(write: JobTransaction, named: Sequence[str]) -> None:
    """Let the calls of these tasks and of their steps be sent once more, because a person asks.

    An answer that still comes is recorded all the same.
    """
    values = {"job_id": write.job_id, "named": list(named)}
    await write.connection.execute(_RELEASE, values)
