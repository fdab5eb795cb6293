"""Cancel the responses in the background that a job leaves behind when it ends."""

import asyncio
from contextlib import suppress

import structlog

from holdfast.activities.runtime.activity_services import Services
from holdfast.models.errors import HoldfastError, StorageAway
from holdfast.roles.dialogue.role_definition import BackgroundModel
from holdfast.storage.ledger.background_responses import (
    BackgroundResponse,
    forget_response,
    unanswered_responses,
)

log = structlog.get_logger(__name__)


async def cancel_left_responses(services: Services, job_id: str) -> None:
    """Cancel what the endpoints still make for the job, as far as they answer.

    The end of the job does not hang on it: a response that is not cancelled is paid for, and read
    by nobody.
    """
    with suppress(StorageAway):
        left = await unanswered_responses(services.db, job_id)
        await asyncio.gather(*(_cancel(services, response) for response in left))


async def _cancel(services: Services, response: BackgroundResponse) -> None:
    try:
        model = services.models.named(response.model)
        if isinstance(model, BackgroundModel):
            await model.cancel_response(response.response_id)
    except HoldfastError as error:
        log.warning("response_not_cancelled", response=response.response_id, error=str(error))
        return
    await forget_response(services.db, response)
