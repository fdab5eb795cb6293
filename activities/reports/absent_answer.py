"""Report what a job did not find: what it searched, what is nearest, and what would help.

No model writes it: there is nothing to write about, and nobody pays for it.
"""

import math
from collections.abc import Iterator, Sequence

from holdfast.activities.reports.report_inputs import ReportInputs, unfinished_task_gaps
from holdfast.models.evidence.evidence import (
    LocatedQuote,
    NearestPassage,
    PossibleValue,
    Report,
    ReportStatement,
)
from holdfast.models.jobs.follow_up import without_context
from holdfast.models.jobs.job_record import JobRequest
from holdfast.models.plans.research_plan import TaskStatus
from holdfast.models.strategies.job_strategy import EXTRACTIVE_MODEL
from holdfast.models.text.report_marks import without_marks
from holdfast.models.text.terminal_text import shorten_text
from holdfast.planning.loop.loop_tasks import is_step_of_loop
from holdfast.planning.reports.not_found_text import NOT_FOUND, with_documents_counted
from holdfast.planning.reports.possible_values import possible_values
from holdfast.planning.reports.report_gaps import is_unconcluded
from holdfast.planning.reports.shown_searches import shown_searches
from holdfast.planning.text.quote_location import best_sentences
from holdfast.roles.extractive.questions.declined_questions import unanswered_part, why_declined
from holdfast.storage.core.database import Database
from holdfast.storage.corpus.collection_description import document_count
from holdfast.storage.corpus.corpus_store import CorpusStore
from holdfast.storage.views import report_input_queries

_NEAREST = 3
_NEAREST_DECLINED = 6
"""For a question that nobody tried to answer: there is no finding besides."""
_MAX_QUOTE_CHARS = 300
_WORTH_A_THRESHOLD = 0.5
"""A value that is less sure than that is rather wrong than right: no threshold should take it."""


def has_results(inputs: ReportInputs) -> bool:
    """True if a task of the plan was done, so that there is something to report.

    An opening loop counts if it proved something, and a search of a loop if it showed a value.
    """
    strategy = inputs.job.request.strategy
    return any(
        task.result or not (task.is_opening or is_step_of_loop(task, strategy))
        for task in inputs.plan.tasks
        if task.status is TaskStatus.DONE
    )


def not_found_report(inputs: ReportInputs) -> Report:
    """Return the report of a job without results."""
    request = inputs.job.request
    return Report(
        question=request.question,
        answer=None,
        summary=tuple(ReportStatement(text=each) for each in _summary(request)),
        gaps=(*unfinished_task_gaps(inputs.tasks), *_second_question(request)),
    )


async def with_unproven(db: Database, inputs: ReportInputs, report: Report) -> Report:
    """Add how many documents there were, and possible values.

    Without an answer also what was searched, what would help, and, if the report quotes nothing,
    the passages that are nearest to the question.
    """
    request = inputs.job.request
    report = report.model_copy(update={"documents": await _documents(db, request)})
    threshold = request.strategy.confidence_threshold
    possible = possible_values(inputs.tasks, threshold, answer=report.answer)
    if report.answer is not None:
        return report.model_copy(update={"possible": possible})
    searches = await report_input_queries.searches_of(db, inputs.job.id)
    nearest = () if report.citations else await _nearest_passages(db, request)
    return with_documents_counted(report).model_copy(
        update={
            "possible": possible,
            "searches": shown_searches(searches),
            "nearest": nearest,
            "advice": tuple(_advice(inputs, possible)),
        }
    )


async def _nearest_passages(db: Database, request: JobRequest) -> tuple[NearestPassage, ...]:
    if not request.collection:
        return ()
    most = _NEAREST_DECLINED if _declined(request) else _NEAREST
    hits = await CorpusStore(db).search(request.collection, request.question, most)
    passages = [passage for passage, _ in hits]
    return tuple(map(_nearest_passage, best_sentences("", request.question, passages, most)))


async def _documents(db: Database, request: JobRequest) -> int | None:
    return await document_count(db, request.collection) if request.collection else None


def _advice(inputs: ReportInputs, possible: Sequence[PossibleValue]) -> Iterator[str]:
    request = inputs.job.request
    if any(is_unconcluded(each.task, each.failure) for each in inputs.tasks):
        yield (
            "Ask again, or ask another model: what was found stands, and only the short answer "
            "could not be concluded from it."
        )
        return
    if _declined(request):
        yield "Ask a language model, or ask the built-in model for one value at a time, in English."
        return
    if possible:
        surest = possible[0].confidence
        takes = f": with a confidence threshold of {math.floor(surest * 10) / 10:g} the job takes "
        helps = f"{takes}the surest of them" if surest >= _WORTH_A_THRESHOLD else ""
        yield f"Check the possible values{helps}."
    if request.collection:
        yield "Add documents that state what was not found, and ask again."
    else:
        yield "Give the job a collection of documents, or a tool that can search."


def _summary(request: JobRequest) -> Iterator[str]:
    if declined := _declined(request):
        yield "The built-in model gives no answer to this question."
        yield declined
    else:
        yield NOT_FOUND


def _declined(request: JobRequest) -> str:
    """Return why the built-in model answers no such question; empty if it does or did not play."""
    if request.model != EXTRACTIVE_MODEL:
        return ""
    return why_declined(without_context(request.question))


def _second_question(request: JobRequest) -> Iterator[str]:
    """The gap for the second of two questions, which the built-in model does not look into."""
    if request.model == EXTRACTIVE_MODEL and not _declined(request):
        gap = unanswered_part(without_context(request.question))
        if gap:
            yield gap


def _nearest_passage(found: LocatedQuote) -> NearestPassage:
    quote = shorten_text(" ".join(found.quote.split()), _MAX_QUOTE_CHARS)
    title = " ".join(found.passage.title.split())
    return NearestPassage(
        quote=without_marks(quote), title=without_marks(title), address=found.passage.address
    )
