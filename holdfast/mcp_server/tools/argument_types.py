"""Define the arguments that several tools share."""

from typing import Annotated

from pydantic import Field

JobId = Annotated[str, Field(description="The job's id, from research_start.", max_length=200)]
