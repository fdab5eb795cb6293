"""Name what planners and agents are told about the setting of a job: the date and the documents.

The date is the day on which the job was submitted. Neither is content of a request: a job that goes
on after a document was added finds the answers that were recorded before.
"""

from typing import Annotated, TypeAlias

from pydantic import Field

from holdfast.models.calls.release_fields import FromRelease
from holdfast.models.frozen_model import Frozen

Today: TypeAlias = Annotated[FromRelease[str], Field(description="the date, ISO 8601")]
Collection: TypeAlias = Annotated[
    FromRelease[str],
    Field(description="how many documents can be searched, and their titles if they are few"),
]


class JobSetting(Frozen):
    """The date and the documents of a job, as its prompts name them."""

    today: str = ""
    collection: str = ""
