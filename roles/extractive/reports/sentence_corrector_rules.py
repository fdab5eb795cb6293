"""Sentence corrector by rules: leave each refused sentence out, since rules write only quotes."""

from holdfast.roles.reports.sentence_corrector import (
    CorrectedSentence,
    SentenceCorrectorAnswer,
    SentenceCorrectorTask,
)


def correct_by_rules(task: SentenceCorrectorTask) -> SentenceCorrectorAnswer:
    """The refused sentences, each without a text."""
    return SentenceCorrectorAnswer(
        sentences=[CorrectedSentence(id=each.id) for each in task.sentences]
    )
