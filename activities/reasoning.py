"""A reasoning task: one model call that yields the task's entities from its inputs."""

from activities.asking import Desk
from activities.outcomes import Outcome
from models.errors import FailureClass
from models.failures import Component, Failure
from models.jobs import JobRequest
from models.plan import Task
from planning.feedback import kpi_failure
from planning.kpis import Candidate, Verdict, judge
from planning.values import storable
from roles.reasoner import REASONER, Given, ReasonerAnswer, ReasonerTask


async def reason(
    desk: Desk,
    request: JobRequest,
    task: Task,
    inputs: tuple[Given, ...],
    context: tuple[Given, ...],
) -> Outcome:
    """What the reasoner concludes; failed, null or missing outputs are a failure (KPI-09)."""
    asked = await desk.ask(
        REASONER,
        ReasonerTask(
            question=request.question,
            description=task.description,
            inputs=inputs,
            context=context,
            outputs=task.expects,
        ),
    )
    if asked.answer is None:
        return Outcome(failure=_unreadable(asked.faults))
    answer = asked.answer
    verdict = judge(task.expects, _candidates(answer), request.strategy.confidence_threshold)
    trace = {"reasoning_steps": answer.reasoning_steps, "explanation": answer.explanation}
    if verdict.is_success and answer.status == "completed":
        return Outcome(kept=verdict.kept, confidence=verdict.confidence, trace=trace)
    return Outcome(
        failure=_failure(answer, verdict, request), confidence=verdict.confidence, trace=trace
    )


def _candidates(answer: ReasonerAnswer) -> dict[str, Candidate]:
    return {
        each.name: Candidate(
            name=each.name,
            value=storable(each.value),
            confidence=1.0 if each.confidence is None else each.confidence,
        )
        for each in answer.outputs
    }


def _failure(answer: ReasonerAnswer, verdict: Verdict, request: JobRequest) -> Failure:
    threshold = request.strategy.confidence_threshold or 0.0
    reason = answer.explanation or "; ".join(answer.reasoning_steps[-2:])
    if not verdict.is_success:
        return kpi_failure(verdict, Component.REASONER, reason, threshold)
    return Failure(
        component=Component.REASONER,
        failure_class=FailureClass.SEMANTIC,
        message=f"The reasoner says it failed: {reason}",
        reason=reason,
    )


def _unreadable(faults: tuple[str, ...]) -> Failure:
    return Failure(
        component=Component.REASONER,
        failure_class=FailureClass.SEMANTIC,
        message=f"The reasoner gave no valid answer: {'; '.join(faults)}"[:4000],
    )
