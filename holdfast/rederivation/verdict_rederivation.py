"""Derive each verdict again from the verifier's recorded reply, and each stop condition."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from holdfast.activities.verification.verification_inputs import (
    VerificationInputs,
    load_verification_inputs,
)
from holdfast.models.calls.model_requests import ModelRequest
from holdfast.models.jobs.job_record import Job
from holdfast.models.verification.verification_verdicts import (
    StopCondition,
    StopLogEntry,
    Verification,
)
from holdfast.models.verification.verifier_messages import VerifierAnswer, VerifierTask
from holdfast.models.wire import stored_keys
from holdfast.models.wire.event_kinds import EventKind
from holdfast.planning.verification.contradiction_rules import Settlement, review_contradictions
from holdfast.planning.verification.stop_conditions import check_stop_conditions
from holdfast.planning.verification.verdict_and_retry_rules import (
    effective_verdict,
    verdict_without_model,
    verdicts_by_task,
)
from holdfast.planning.verification.verifier_answer_to_verdict import (
    ResultVerdict,
    verdict_faults,
    verdict_from_answer,
    verdicts_by_result,
)
from holdfast.rederivation.rederived_decisions import (
    DecisionKind,
    RederivedDecision,
    compared,
    not_derivable,
)
from holdfast.roles.dialogue.reply_reader import ReplyInvalid, read_reply
from holdfast.roles.verification.verifier import VERIFIER
from holdfast.storage.core.database import Database
from holdfast.storage.evidence import verification_rows
from holdfast.storage.evidence.source_queries import model_calls_of
from holdfast.storage.views import job_queries

_MOST_EVENTS = 1_000_000


@dataclass(frozen=True)
class _Round:
    """One verification round as it is stored."""

    entry: StopLogEntry
    verdicts: tuple[Verification, ...]
    inputs: VerificationInputs
    """With the verdicts of the round before."""
    attempts: Mapping[str, int]
    """The attempt that each result was judged at."""
    replies: Mapping[str, tuple[VerifierAnswer, VerifierTask]]
    """The last valid reply on each result."""


async def rederive_verdicts(db: Database, job: Job) -> list[RederivedDecision]:
    """Return each verdict of each round, and what the stop conditions saw."""
    decisions: list[RederivedDecision] = []
    for each in await _rounds(db, job):
        decisions += _verdicts(each)
        decisions.append(_stop_conditions(job, each))
    return decisions


async def _rounds(db: Database, job: Job) -> list[_Round]:
    entries = await verification_rows.verification_rounds_of(db, job.id)
    if not entries:
        return []
    verdicts = await verification_rows.verdicts_of(db, job.id)
    inputs = await load_verification_inputs(db, job.id, job.request)
    attempts = await _judged_attempts(db, job.id)
    rows = await model_calls_of(db, job.id, [VERIFIER.name])
    rounds = []
    before: Mapping[str, Verification] = {}
    for entry in entries:
        label = stored_keys.verification_receipt(entry.round)
        of_round = [row for row in reversed(rows) if row.task_id == label]
        now = verdicts.get(entry.round, ())
        rounds.append(
            _Round(
                entry,
                now,
                replace(inputs, before=before),
                attempts.get(entry.round, {}),
                _valid_replies(of_round),
            )
        )
        before = verdicts_by_task(now)
    return rounds


async def _judged_attempts(db: Database, job_id: str) -> dict[int, dict[str, int]]:
    """Return, by round, the attempt at which each task was judged, from the job's log."""
    rounds: dict[int, dict[str, int]] = {}
    judged: dict[str, int] = {}
    for each in await job_queries.events_after(db, job_id, 0, _MOST_EVENTS):
        if each.kind == EventKind.TASK_VERIFIED:
            judged[each.task] = _number(each.facts.get("attempt"))
        elif each.kind == EventKind.STOP_CHECKED:
            rounds[_number(each.facts.get("round"))], judged = judged, {}
    return rounds


def _number(fact: object) -> int:
    return fact if isinstance(fact, int) else 0


def _valid_replies(rows: Sequence[Any]) -> dict[str, tuple[VerifierAnswer, VerifierTask]]:
    """Return the last valid reply of the round on each result; later replies correct earlier."""
    replies: dict[str, tuple[VerifierAnswer, VerifierTask]] = {}
    for row in rows:
        try:
            request = ModelRequest.model_validate_json(row.request or "")
            asked = next(each.content for each in request.messages if each.role == "user")
            task = VerifierTask.model_validate_json(asked)
            answer = read_reply(row.response or "", VerifierAnswer)
        except (ValidationError, ReplyInvalid, StopIteration):
            continue
        if not verdict_faults(answer, task):
            replies |= {each.id: (answer, task) for each in task.results}
    return replies


def _verdicts(round_: _Round) -> list[RederivedDecision]:
    derived = {each.task_id: _own_verdict(round_, each) for each in round_.verdicts}
    known = {name: each for name, each in derived.items() if isinstance(each, ResultVerdict)}
    chosen = [
        effective_verdict(round_.inputs.before.get(each.task_id), known[each.task_id].verdict)
        if each.task_id in known
        else each
        for each in round_.verdicts
    ]
    settlements: list[Settlement] = [each.settlement for each in known.values() if each.settlement]
    reviewed = review_contradictions(
        chosen, round_.inputs.before, settlements, _repairs(round_, round_.verdicts)
    )
    decisions = []
    for stored, again in zip(round_.verdicts, reviewed, strict=True):
        name = f"round {round_.entry.round}, {stored.task_id}"
        reason = derived[stored.task_id]
        if isinstance(reason, str):
            decisions.append(not_derivable(DecisionKind.VERDICT, name, reason))
            continue
        decisions.append(
            compared(
                DecisionKind.VERDICT,
                name,
                stored.model_dump(mode="json"),
                again.model_dump(mode="json"),
            )
        )
    return decisions


def _repairs(round_: _Round, verdicts: Sequence[Verification]) -> dict[str, tuple[str, ...]]:
    judged = {each.task_id for each in verdicts}
    return {name: pair for name, pair in round_.inputs.repairs.items() if name in judged}


def _own_verdict(round_: _Round, stored: Verification) -> ResultVerdict | str:
    """Return the verdict of this round on a result; a text says why it cannot be derived."""
    name = stored.task_id
    task = next((each for each in round_.inputs.tasks if each.task.id == name), None)
    last = round_.inputs.before.get(name)
    if stored.is_carried_over:
        if last is None:
            return "the verdict of the round before is missing"
        ruling = round_.inputs.rulings.get(name)
        if ruling is not None and ruling.accepts:
            return "a person accepted the result"
        return ResultVerdict(verdict=last.model_copy(update={"is_carried_over": True}))
    if task is None:
        return "the task was superseded later"
    attempt = round_.attempts.get(name, stored.attempt)
    if name in round_.replies:
        answer, asked = round_.replies[name]
        draft = verdicts_by_result(answer, asked)[name]
        judged = task.model_copy(update={"attempt": attempt})
        dispute = round_.inputs.dispute_of(name)
        return verdict_from_answer(judged, draft, dispute, stored.model, 0)
    if stored.model:
        return "the verifier's reply is not recorded"
    if task.attempt != attempt:
        return "the failure of that attempt is not stored any more"
    why = task.failure.first_line if task.failure else ""
    return ResultVerdict(verdict=verdict_without_model(task.task, attempt, why))


def _stop_conditions(job: Job, round_: _Round) -> RederivedDecision:
    entry = round_.entry
    derived = check_stop_conditions(
        job.request.strategy,
        round_.inputs.before,
        round_.verdicts,
        round_=entry.round,
        tokens=entry.tokens,
    )
    # Planning the gaps may find nothing to do, which is recorded afterwards.
    fired = entry.fired
    if fired is StopCondition.NOTHING_LEFT and entry.is_filled and round_.verdicts:
        fired = None
    stored = entry.model_copy(update={"is_filled": False, "fired": fired})
    return compared(
        DecisionKind.STOP_CONDITIONS,
        f"round {entry.round}",
        stored.model_dump(mode="json"),
        derived.model_dump(mode="json"),
    )
