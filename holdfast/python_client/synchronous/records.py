"""Work with jobs as records: fork, compare and update them."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from pydantic import TypeAdapter

from holdfast.python_client.answers import JsonObject
from holdfast.python_client.request_paths import path_part
from holdfast.python_client.synchronous.session import SyncSession


class SyncRecords(SyncSession):
    """Forks, comparisons and updates of jobs."""

    def fork(
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
            tasks: the tasks that run again, with those that depend on them.
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
        headers = {"Idempotency-Key": uuid4().hex if key is None else key}
        answer = self._request(
            "POST", f"/jobs/{path_part(job)}/fork", body=body, headers=headers, is_safe=True
        )
        return TypeAdapter(JsonObject).validate_json(answer.content)

    def preview_fork(
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
        """What a fork would run and keep, and what the same calls took; nothing is stored."""
        body = _changes(tasks, model, preset, settings, questions, plan, retract)
        return self._post(JsonObject, f"/jobs/{path_part(job)}/fork/preview", body)

    def compare(self, job: str, other: str, *, model: str | None = None) -> JsonObject:
        """Two jobs next to each other: answer, claims, tasks, sources, cost and time.

        A `model` matches the claims that rules left over, in one call that is paid for once.
        """
        if model is not None:
            body = {"model": model}
            return self._post(
                JsonObject, f"/jobs/{path_part(job)}/compare/{path_part(other)}", body
            )
        return self._get(JsonObject, f"/jobs/{path_part(job)}/compare/{path_part(other)}")

    def update(
        self,
        job: str,
        *,
        older_than: str | None = None,
        search: bool = False,
        dry_run: bool = False,
    ) -> JsonObject:
        """Read a report's sources again, and run what depends on changed ones in a new job.

        The answer's `job_id` is the new job, or None if nothing depends on a change.

        Args:
            job: the job whose report is updated.
            older_than: do nothing if the sources were read more recently, such as `30d` ago.
            search: run all searches again, to find new sources as well.
            dry_run: read the sources, and start no job.
        """
        body = {"older_than": older_than, "search": search, "dry_run": dry_run}
        return self._post(JsonObject, f"/jobs/{path_part(job)}/update", body)


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
        "settings": None if settings is None else dict(settings),
        "questions": None if questions is None else dict(questions),
        "plan": plan,
        "retract": list(retract),
    }
    return {name: value for name, value in given.items() if value is not None}
