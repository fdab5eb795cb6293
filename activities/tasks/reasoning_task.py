"""Run a reasoning task: one model call derives the task's values from its inputs."""

from collections.abc import Sequence

from holdfast.activities.runtime.model_call import ModelCaller
from holdfast.activities.runtime.task_outcome import TaskOutcome, invalid_answer_failure
from holdfast.models.errors import FailureClass
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.plans.research_plan import ExpectedEntity, Task
from holdfast.models.tasks.named_value import NamedValue
from holdfast.models.tasks.task_failure import Component, Failure
from holdfast.models.text.storable_text import storable_value
from holdfast.planning.results.entity_names import EntityNameCheck, promised_name
from holdfast.planning.results.entity_types import EntityTypeCheck
from holdfast.planning.results.kpi_check import EntityCandidate, KpiVerdict, check_kpis
from holdfast.planning.results.kpi_failure import kpi_failure
from holdfast.roles.tasks.reasoner import REASONER, ReasonerAnswer, ReasonerTask


async def run_reasoning_task(
    model_caller: ModelCaller,
    request: JobRequest,
    task: Task,
    inputs: tuple[NamedValue, ...],
    context: tuple[NamedValue, ...],
) -> TaskOutcome:
    """The reasoner's conclusion; failed, null or missing outputs are a failure (KPI-09)."""
    names = EntityNameCheck(task.expects, "outputs")
    types = EntityTypeCheck(task.expects, "outputs")

    def check(answer: ReasonerAnswer) -> Sequence[str]:
        if answer.status != "completed":
            return ()  # It says why in `explanation`, and may name nothing.
        faults = names.faults(each.name for each in answer.outputs)
        candidates = _reasoned_candidates(answer, task.expects)
        return faults or types.faults({name: each.value for name, each in candidates.items()})

    dialogue = await model_caller.ask(
        REASONER,
        ReasonerTask(
            question=request.question_in_context,
            description=task.description,
            inputs=inputs,
            context=context,
            outputs=task.expects,
        ),
        check=check,
    )
    if dialogue.answer is None:
        return TaskOutcome(failure=invalid_answer_failure(Component.REASONER, dialogue.faults))
    answer = dialogue.answer
    candidates = _reasoned_candidates(answer, task.expects)
    verdict = check_kpis(task.expects, candidates, request.strategy.confidence_threshold)
    trace = {"reasoning_steps": answer.reasoning_steps, "explanation": answer.explanation}
    if verdict.is_success and answer.status == "completed":
        return TaskOutcome(kept=verdict.kept, confidence=verdict.confidence, trace=trace)
    return TaskOutcome(
        failure=_reasoning_failure(answer, verdict, request),
        confidence=verdict.confidence,
        trace=trace,
    )


def _reasoned_candidates(
    answer: ReasonerAnswer, expects: Sequence[ExpectedEntity]
) -> dict[str, EntityCandidate]:
    candidates = (
        EntityCandidate(
            name=promised_name(each.name, expects),
            value=storable_value(each.value),
            confidence=1.0 if each.confidence is None else each.confidence,
        )
        for each in answer.outputs
    )
    return {each.name: each for each in candidates}


def _reasoning_failure(answer: ReasonerAnswer, verdict: KpiVerdict, request: JobRequest) -> Failure:
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
