"""Submit, list, show and control jobs."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from pydantic import TypeAdapter

from holdfast.python_client.answers import (
    AcceptedChange,
    Estimate,
    Event,
    JobLine,
    JsonObject,
    SubmittedJob,
    WaitingQuestion,
)
from holdfast.python_client.jobs_and_reports import Job
from holdfast.python_client.request_paths import path_part
from holdfast.python_client.synchronous.job_following import SyncJobFollowing


class SyncJobs(SyncJobFollowing):
    """Everything about jobs but their evidence."""

    def submit(
        self,
        question: str,
        *,
        collection: str | None = None,
        preset: str | None = None,
        model: str | None = None,
        settings: Mapping[str, Any] | None = None,
        servers: Sequence[str] | None = None,
        follows: str | None = None,
        review: bool = False,
        plan_only: bool = False,
        key: str | None = None,
    ) -> SubmittedJob:
        """Submit a question; its job runs on, whether or not the client stays.

        The request is repeated while the server is away and still makes one job, because it has an
        idempotency key: `key`, or one of its own.

        Args:
            question: what to find out.
            collection: the documents to read.
            preset: a named strategy, which `presets` lists.
            model: the model of every role.
            settings: changed settings of the preset, by name.
            servers: only the tools of these servers can be called.
            follows: the ended job that the question follows.
            review: the plan waits for an approval before anything runs.
            plan_only: the job stops after planning; `estimate` says what the rest takes, and
                `resume` starts it.
            key: the same key with the same request gives the same job.

        Raises:
            InvalidRequest: a field cannot be used; `fields` names each.
        """
        given: dict[str, Any] = {
            "question": question,
            "collection": collection,
            "preset": preset,
            "model": model,
            "settings": None if settings is None else dict(settings),
            "servers": None if servers is None else list(servers),
            "follows": follows,
            "review": review or None,
            "plan_only": plan_only or None,
        }
        body = {name: value for name, value in given.items() if value is not None}
        headers = {"Idempotency-Key": uuid4().hex if key is None else key}
        answer = self._request("POST", "/jobs", body=body, headers=headers, is_safe=True)
        return TypeAdapter(SubmittedJob).validate_json(answer.content)

    def expect(
        self, question: str, *, preset: str | None = None, model: str | None = None
    ) -> JsonObject:
        """What such jobs took here, and the limits of this one; nothing is stored."""
        given = {"question": question, "preset": preset, "model": model}
        body = {name: value for name, value in given.items() if value is not None}
        return self._post(JsonObject, "/estimates", body)

    def jobs(
        self,
        *,
        limit: int = 20,
        status: str | None = None,
        preset: str | None = None,
        words: str = "",
        after: str | None = None,
    ) -> list[JobLine]:
        """The newest jobs; `after` is the last job of the list before."""
        return self._get(
            list[JobLine],
            "/jobs",
            limit=limit,
            status=status,
            preset=preset,
            q=words or None,
            after=after,
        )

    def job(self, job: str) -> Job:
        """The job with its tasks and its spending."""
        return self._get(Job, f"/jobs/{path_part(job)}")

    def status(self, job: str) -> JsonObject:
        """What the job does, what blocks it, and what comes next."""
        return self._get(JsonObject, f"/jobs/{path_part(job)}/status")

    def estimate(self, job: str) -> Estimate:
        """What the plan's pending tasks are expected to take."""
        return self._get(Estimate, f"/jobs/{path_part(job)}/estimate")

    def plan(self, job: str) -> list[JsonObject]:
        """The tasks of the current plan."""
        return self._get(list[JsonObject], f"/jobs/{path_part(job)}/plan")

    def plan_revision(self, job: str) -> str:
        """The plan's revision, for `answer(..., plan_revision=)`."""
        answer = self._request("GET", f"/jobs/{path_part(job)}/plan", is_safe=True)
        return str(answer.headers["etag"]).strip('"')

    def plan_yaml(self, job: str) -> str:
        """The plan in the form that an edit takes."""
        return (self._bytes(f"/jobs/{path_part(job)}/plan.yaml")).decode()

    def plan_changes(self, job: str) -> list[JsonObject]:
        """Every change of the plan, with its cause."""
        return self._get(list[JsonObject], f"/jobs/{path_part(job)}/plan/changes")

    def memory(self, job: str) -> JsonObject:
        """The entities that the job has found."""
        return self._get(JsonObject, f"/jobs/{path_part(job)}/memory")

    def verification(self, job: str) -> JsonObject:
        """The verdicts of every verification round."""
        return self._get(JsonObject, f"/jobs/{path_part(job)}/verification")

    def calls(self, job: str) -> list[JsonObject]:
        """Every model and tool call of the job."""
        return self._get(list[JsonObject], f"/jobs/{path_part(job)}/calls")

    def job_statistics(self, job: str) -> JsonObject:
        """Calls, tokens, recoveries and failures of the job."""
        return self._get(JsonObject, f"/jobs/{path_part(job)}/statistics")

    def send_trace(self, job: str) -> JsonObject:
        """Send the trace of the job to the collector that the server's environment names."""
        return self._post(JsonObject, f"/jobs/{path_part(job)}/otel")

    def log(self, job: str, *, after: int = 0, limit: int = 200) -> list[Event]:
        """The entries of the job's log after one of them."""
        return self._get(list[Event], f"/jobs/{path_part(job)}/log", after=after, limit=limit)

    def questions(self, job: str) -> list[JsonObject]:
        """Every question of the job, with its answer."""
        return self._get(list[JsonObject], f"/jobs/{path_part(job)}/questions")

    def open_questions(self, job: str) -> list[WaitingQuestion]:
        """The questions that wait for an answer, oldest first."""
        return self._get(list[WaitingQuestion], f"/jobs/{path_part(job)}/questions/open")

    def answer(
        self,
        job: str,
        question: int,
        text: str = "",
        *,
        choice: str = "",
        plan_revision: str | None = None,
    ) -> AcceptedChange:
        """Answer a question with one of its choices, with words, or with both.

        Raises:
            PlanMoved: the plan has a newer revision than `plan_revision`.
        """
        headers = {} if plan_revision is None else {"If-Match": f'"{plan_revision}"'}
        answer = self._request(
            "POST",
            f"/jobs/{path_part(job)}/questions/{path_part(question)}",
            body={"text": text, "choice": choice},
            headers=headers,
        )
        return TypeAdapter(AcceptedChange).validate_json(answer.content)

    def pause(self, job: str) -> AcceptedChange:
        """Start no more tasks; running tasks finish."""
        return self._post(AcceptedChange, f"/jobs/{path_part(job)}/pause")

    def resume(self, job: str, **settings: Any) -> AcceptedChange:  # noqa: ANN401 - settings differ
        """Continue the job with everything it has found, and with changed settings."""
        return self._post(AcceptedChange, f"/jobs/{path_part(job)}/resume", {"settings": settings})

    def cancel(self, job: str) -> AcceptedChange:
        """Stop the job and its calls in flight; its findings are kept."""
        return self._post(AcceptedChange, f"/jobs/{path_part(job)}/cancel")

    def steer(self, job: str, guidance: str) -> AcceptedChange:
        """Give guidance for the job's next planning."""
        return self._post(AcceptedChange, f"/jobs/{path_part(job)}/steer", {"guidance": guidance})

    def retry(self, job: str, *tasks: str, dry_run: bool = False) -> JsonObject:
        """Run tasks and the tasks that depend on them again, or say which would run."""
        body = {"tasks": tasks, "dry_run": dry_run}
        return self._post(JsonObject, f"/jobs/{path_part(job)}/retry", body)

    def write_partial_report(self, job: str) -> AcceptedChange:
        """Have a job that ended without a report write one of what it found."""
        return self._post(AcceptedChange, f"/jobs/{path_part(job)}/partial-report")

    def prune(
        self,
        older_than: str | None = None,
        *,
        down_to: str | None = None,
        part: str = "jobs",
        dry_run: bool = False,
    ) -> JsonObject:
        """Prune jobs that ended before a time such as `30d`, or down to a size such as `20GB`.

        `part` is `jobs`, or only their `responses` or `events`.
        """
        given = {"older_than": older_than, "down_to": down_to, "part": part, "dry_run": dry_run}
        body = {name: value for name, value in given.items() if value is not None}
        return self._post(JsonObject, "/prune", body)

    def remove(self, job: str) -> JsonObject:
        """Remove an ended job with everything it found."""
        return self._delete(JsonObject, f"/jobs/{path_part(job)}")

    def erase(
        self,
        job: str | None = None,
        *,
        owner: str | None = None,
        with_follow_ups: bool = False,
    ) -> JsonObject:
        """Erase a job, running or ended, or everything of an owner; the answer is the receipt."""
        given = {"job": job, "owner": owner, "with_follow_ups": with_follow_ups}
        body = {name: value for name, value in given.items() if value is not None}
        return self._post(JsonObject, "/erasures", body)

    def erasures(self, *, limit: int = 50) -> list[JsonObject]:
        """The receipts of erasures, the newest first."""
        return self._get(list[JsonObject], "/erasures", limit=limit)
