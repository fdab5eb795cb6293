"""Condenser by rules: select the quotes that share most words with the question."""

from holdfast.models.reports.report_writer_messages import EvidenceItem
from holdfast.roles.extractive.questions.question_analysis import parse_question
from holdfast.roles.extractive.reports.synthesiser_rules import distinct_evidence, quote_statement
from holdfast.roles.extractive.text.words_and_sentences import stems
from holdfast.roles.reports.condenser import MOST_STATEMENTS, CondenserAnswer, CondenserTask


def condense(task: CondenserTask) -> CondenserAnswer:
    """The quotes that share most words with the question, in their original order."""
    wanted = frozenset(stems(parse_question(task.question).text))
    items = distinct_evidence(task.evidence)

    def shared(item: EvidenceItem) -> int:
        return len(wanted & frozenset(stems(f"{item.title} {item.shows} {item.quote}")))

    chosen = {each.id for each in sorted(items, key=shared, reverse=True)[:MOST_STATEMENTS]}
    return CondenserAnswer(
        statements=[quote_statement(each) for each in items if each.id in chosen]
    )
