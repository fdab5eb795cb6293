"""Check what a writer says about its own report: the limits of conclusions, and the gaps."""

from collections.abc import Sequence

from holdfast.models.reports.report_writer_messages import SynthesiserAnswer
from holdfast.planning.reports.sentence_support import unsupported_parts


def with_supported_remarks(
    answer: SynthesiserAnswer, sources: Sequence[str], known: Sequence[str]
) -> SynthesiserAnswer:
    """Return the draft without limits and gaps that name what nobody asked and no source has.

    They cite nothing, so each may use all that was read, and the known texts.
    """

    def is_supported(text: str) -> bool:
        return not unsupported_parts(text, sources, known, searched="source that was read")

    return answer.model_copy(
        update={
            "gaps": [gap for gap in answer.gaps if is_supported(gap)],
            "conclusions": [
                each if is_supported(each.limits) else each.model_copy(update={"limits": ""})
                for each in answer.conclusions
            ],
        }
    )
