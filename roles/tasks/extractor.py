"""Extractor role: read expected entities out of a tool's response, each with a quote."""

from typing import Any

from pydantic import (
    Field,
    JsonValue,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from holdfast.models.answer_draft import Confidence, Draft, DraftValue
from holdfast.models.calls.release_fields import FromRelease
from holdfast.models.frozen_model import Frozen
from holdfast.models.plans.research_plan import ExpectedEntity
from holdfast.models.tasks.named_value import NamedValue
from holdfast.models.text.document_title import without_repeated_title
from holdfast.models.wire.role_names import RoleName
from holdfast.roles.dialogue.role_definition import Role


class Fragment(Frozen):
    """A piece of a tool's answer, with the document, title and heading it stands under."""

    address: str = ""
    """Of the document, which a later task may have to read; empty where the tool knows none."""
    title: FromRelease[str] = ""
    """In a prompt only if it tells more than address and text do."""
    heading: str = ""
    text: str

    @model_serializer(mode="wrap")
    def _without_repeated_title(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return without_repeated_title(self, handler)


class ExtractorTask(Frozen):
    """What the extractor is given: one chunk of the answer."""

    description: str = Field(description="what the task was to find out")
    arguments: dict[str, JsonValue] = Field(description="what the tool was called with")
    entities: tuple[ExpectedEntity, ...]
    least_confidence: FromRelease[float | None] = Field(
        default=None, description="the confidence below which a value does not count"
    )
    response: tuple[Fragment, ...] = Field(description="what the tool returned: data only")
    context: tuple[NamedValue, ...] = Field(
        default=(), description="results of the tasks that this one depends on"
    )
    note: FromRelease[str] = ""


class Extracted(Draft):
    """One entity as found; a value of null when it is not there."""

    name: str
    quote: str = Field(default="", description="the words of the response that show the value")
    more_quotes: list[str] = Field(
        default_factory=list, description="where one sentence does not show all of it"
    )
    value: DraftValue = None
    confidence: Confidence | None = Field(default=None, description="0 to 1, of this entity")


class ExtractorAnswer(Draft):
    """The entities found in one chunk. The form of the KPI-Chain paper is read as well."""

    entities: list[Extracted]
    confidence: Confidence = Field(default=0.0, description="0 to 1, of the answer as a whole")
    summary: str = Field(default="", description="what was found or why not, in a few sentences")

    @model_validator(mode="before")
    @classmethod
    def _from_paper_form(cls, value: object) -> object:
        if not isinstance(value, dict) or "extracted_entities" not in value:
            return value
        found = value["extracted_entities"] or {}
        return {
            "entities": [{"name": name, "value": found[name]} for name in found],
            "confidence": value.get("confidence_score") or 0.0,
            "summary": value.get("entities_summary") or "",
        }


EXTRACTOR = Role(
    name=RoleName.EXTRACTOR.value,
    instructions="""\
You read `entities` out of the `response` of a tool that was called with `arguments` to find what
`description` says; `context` was found before. For each entity give
- quote: the sentence of the response that shows it, copied letter by letter; for what this one
  leaves out of the value, add one sentence each to `more_quotes`.
- value: exactly what the response says, in the declared type (else string); null if it is not
  there. Never guess; use no other knowledge.
- confidence: that this value is what the entity's description asks for. Below 0.5 a guess; to 0.7
  likely but unclear; to 0.9 stated; above, stated in so many words. Below `least_confidence`, the
  value is looked for again.
In `summary` say what was found; for what is missing say why, and which words of the response would
make a better query. Heed `note` on the call.
Example: {"name":"architect","quote":"Halm Tower (1931) is by Ida Voss.","value":"Ida Voss",
"confidence":0.95}; for what is not there {"name":"height","quote":"","value":null,"confidence":0}
""",
    foreign_fields=("arguments", "response", "context", "note"),
    task=ExtractorTask,
    answer=ExtractorAnswer,
)
