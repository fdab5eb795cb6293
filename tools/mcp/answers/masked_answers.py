"""Mask secrets in a tool's answer: in its text, values, passages and figures."""

from holdfast.models.calls.tool_figures import ToolFigure
from holdfast.models.calls.tool_signatures import SourcePassage, ToolAnswer
from holdfast.models.text.json_leaves import map_texts
from holdfast.models.text.secret_mask import SecretMask

_LEFT_OUT = "\n\n[An image was left out: it contains a secret of this installation.]"


def masked_answer(answer: ToolAnswer, mask: SecretMask) -> ToolAnswer:
    """Return the answer with all secrets masked, and without images that contain one."""
    mask = mask.of_content()
    kept = tuple(each for each in answer.figures if not mask.is_in(each.data))
    left_out = _LEFT_OUT if len(kept) < len(answer.figures) else ""
    return answer.model_copy(
        update={
            "text": mask.text(answer.text) + left_out,
            "structured": map_texts(answer.structured, mask.text),
            "passages": tuple(_masked_passage(each, mask) for each in answer.passages),
            "figures": tuple(_masked_figure(each, mask) for each in kept),
        }
    )


def _masked_passage(passage: SourcePassage, mask: SecretMask) -> SourcePassage:
    names = ("address", "title", "heading", "text")
    return passage.model_copy(update={name: mask.text(getattr(passage, name)) for name in names})


def _masked_figure(figure: ToolFigure, mask: SecretMask) -> ToolFigure:
    return figure.model_copy(
        update={"title": mask.text(figure.title), "caption": mask.text(figure.caption)}
    )
