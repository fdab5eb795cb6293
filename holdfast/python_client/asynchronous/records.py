"""Work with jobs as records: fork them."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from pydantic import TypeAdapter

from holdfast.python_client.answers import JsonObject
from holdfast.python_client.asynchronous.session import AsyncSession


class AsyncRecords(AsyncSession):
    """Forks of jobs."""

    async def fork(
        self,
        job: str,
        *tasks: str,
        model: str | None = None,
        preset: str | None = None,
        settings: Mapping[str, Any] | None = None,
        questions: Mapping[str, str] | None = None,
        plan: str | None = None,
        retract: Sequence[int] = (),
        key: str | None = None,
    ) -> JsonObject:
        """Run a job again with a change; a call whose request stays the same is not sent.

        The answer has the new job's `job_id`, and `fork` with what it runs, keeps and may cost.

        Args:
            job: the job to fork; it may still run.
            tasks: the tasks that run again, with those that rest on them.
            model: another model of every role.
            preset: another named strategy.
            settings: changed settings, by name.
            questions: other descriptions of tasks, by the task's id.
            plan: the edited plan, in the form of `plan_yaml`.
            retract: evidence that counts for nothing in the fork, by number.
            key: the same key with the same request gives the same job.

        Raises:
            InvalidRequest: nothing is changed, or the change cannot be made.
        """
        body = _changes(tasks, model, preset, settings, questions, plan, retract)
        headers = {"Idempotency-Key": key or uuid4().hex}
        answer = await self._request(
            "POST", f"/jobs/{job}/fork", body=body, headers=headers, is_safe=True
        )
        return TypeAdapter(JsonObject).validate_json(answer.content)

    async def preview_fork(
        self,
        job: str,
        *tasks: str,
        model: str | None = None,
        preset: str | None = None,
        settings: Mapping[str, Any] | None = None,
        questions: Mapping[str, str] | None = None,
        plan: str | None = None,
        retract: Sequence[int] = (),
    ) -> JsonObject:
        """What a fork would run and keep, and what it costs at most; nothing is stored."""
        body = _changes(tasks, model, preset, settings, questions, plan, retract)
        return await self._post(JsonObject, f"/jobs/{job}/fork/preview", body)


def _changes(
    tasks: Sequence[str],
    model: str | None,
    preset: str | None,
    settings: Mapping[str, Any] | None,
    questions: Mapping[str, str] | None,
    plan: str | None,
    retract: Sequence[int],
) -> JsonObject:
    given: dict[str, Any] = {
        "tasks": list(tasks),
        "model": model,
        "preset": preset,
        "settings": dict(settings or {}),
        "questions": dict(questions or {}),
        "plan": plan,
        "retract": list(retract),
    }
    return {name: value for name, value in given.items() if value}
