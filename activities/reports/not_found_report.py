"""Report a job that found nothing: that there is no answer, and which passages are nearest.

No model writes it: there is nothing to write about, and nobody pays for it.
"""

from collections.abc import Sequence

from holdfast.activities.reports.report_inputs import ReportInputs, unfinished_task_gaps
from holdfast.models.calls.tool_signatures import SourcePassage
from holdfast.models.evidence.evidence import LocatedQuote, Report, ReportStatement
from holdfast.models.plans.research_plan import TaskStatus
from holdfast.models.text.report_marks import without_marks
from holdfast.models.text.terminal_text import shorten_text
from holdfast.planning.loop.loop_tasks import is_step_of_loop
from holdfast.planning.text.quote_location import best_sentences
from holdfast.storage.core.database import Database
from holdfast.storage.corpus.collection_description import document_count
from holdfast.storage.corpus.corpus_store import CorpusStore

_NEAREST = 3
_MAX_QUOTE_CHARS = 300


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


async def not_found_report(db: Database, inputs: ReportInputs) -> Report:
    """Return the report of a job without results."""
    request = inputs.job.request
    count, nearest = 0, []
    if request.collection:
        count = await document_count(db, request.collection)
        passages = await CorpusStore(db).search(request.collection, request.question, _NEAREST)
        nearest = best_sentences("", request.question, _passages(passages), _NEAREST)
    return Report(
        question=request.question,
        answer=None,
        summary=(ReportStatement(text=_summary(count)),),
        gaps=(*unfinished_task_gaps(inputs.plan), *map(_nearest_passage, nearest)),
    )


def _summary(documents: int) -> str:
    if not documents:
        return "Not found: nothing that was read answers the question."
    return f"Not found in your {'document' if documents == 1 else f'{documents:,} documents'}."


def _passages(hits: Sequence[tuple[SourcePassage, float]]) -> list[SourcePassage]:
    return [passage for passage, _ in hits]


def _nearest_passage(found: LocatedQuote) -> str:
    quote = shorten_text(" ".join(found.quote.split()), _MAX_QUOTE_CHARS)
    title = " ".join(found.passage.title.split())
    return without_marks(f"Nearest passage: “{quote}” ({title}, {found.passage.address})")
