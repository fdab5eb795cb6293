"""Sample tools, notes and requests for the tests of the built-in model."""

from holdfast.models.calls.tool_signatures import ToolSignature
from holdfast.models.plans.research_plan import EntityType, ExpectedEntity
from holdfast.roles.dialogue.model_dialogue import opening_request
from holdfast.roles.dialogue.role_definition import AnswerT, Role, TaskT
from holdfast.roles.extractive.extraction.extractor_rules import extract
from holdfast.roles.extractive.extractive_model import ExtractiveModel
from holdfast.roles.tasks.extractor import Extracted, ExtractorTask, Fragment

SEARCH_TOOL = ToolSignature(
    name="corpus.search",
    description="Searches the user's documents.",
    input_schema={
        "type": "object",
        "properties": {"query": {"type": "string"}, "limit": {"type": "integer", "maximum": 8}},
        "required": ["query"],
    },
)
READ_TOOL = ToolSignature(
    name="corpus.read",
    input_schema={
        "type": "object",
        "properties": {"document": {"type": "string"}},
        "required": ["document"],
    },
)
KICKOFF = Fragment(
    title="Kickoff meeting.md",
    text="Attendees: Anna Weber, Tom Okafor. The Lighthouse project was approved on 12 March 2024 "
    "with a budget of $48,000. Anna Weber leads the Lighthouse project.",
)
LEASE = Fragment(
    title="Lease",
    text="The office lease at 14 Harbour Street was signed on 3 May 2021 and runs for 5 years. "
    "The landlord is Brightwater Estates. The rent is 2,100 euros per month.",
)
GARDEN = Fragment(title="Garden", text="Planted tomatoes in May. Slugs ate the lettuce.")
KISS = Fragment(
    title="Kiss and Tell (1945 film)",
    text="Kiss and Tell is a 1945 American comedy film starring then 17-year-old Shirley Temple "
    "as Corliss Archer. It was directed by Richard Wallace.",
)
TEMPLE = Fragment(
    title="Shirley Temple",
    text="Shirley Temple Black (April 23, 1928 – February 10, 2014) was an American actress. "
    "As an adult, she was named Chief of Protocol of the United States.",
)


def extracted_entity(description: str, *notes: Fragment, kind: str = "string") -> Extracted:
    """What the extractor reads out of the notes for one entity."""
    entity = ExpectedEntity(name="asked", type=EntityType(kind), description=description)
    task = ExtractorTask(
        description="Search", arguments={"query": "x"}, entities=(entity,), response=notes
    )
    return extract(task).entities[0]


async def role_answer(role: Role[TaskT, AnswerT], task: TaskT) -> AnswerT:
    """The built-in model's answer in a role, through the same messages as any model's."""
    request = opening_request(role, task, model_name="extractive")
    completion = await ExtractiveModel().complete(request)
    return role.answer.model_validate_json(completion.text)
