"""Turn a permanent error into the `Halt` that stops the job."""

from holdfast.models.errors import BadConfiguration, Lasting, ModelRefused
from holdfast.models.jobs.job_record import StopReason
from holdfast.models.jobs.job_state import Halt
from holdfast.models.text.message_limits import MessageLimit, cut_message


def halt_of_error(
    error: Lasting, failed: str = "", *, otherwise: StopReason = StopReason.MODEL_REFUSED
) -> Halt:
    """Return the halt that `error` causes; its message begins with what failed.

    The reason is `MODEL_REFUSED` if the model refuses every call, else `otherwise`.
    """
    refuses = isinstance(error, ModelRefused | BadConfiguration)
    reason = StopReason.MODEL_REFUSED if refuses else otherwise
    message = f"{failed}: {error}" if failed else str(error)
    return Halt(reason=reason, message=cut_message(message, MessageLimit.FAILURE))
