"""Check the filters of a list of jobs."""

from holdfast.models.error_fields import error_field
from holdfast.models.errors import BadInput
from holdfast.models.jobs.job_record import JobStatus
from holdfast.planning.strategies.strategy_presets import preset as find_preset


def check_job_filters(status: str | None, preset: str | None) -> None:
    """Refuse a status or a preset that does not exist.

    Raises:
        BadInput: there is no such status.
        NotFound: there is no such preset.
    """
    statuses = [known.value for known in JobStatus]
    if status and status not in statuses:
        raise BadInput(f"no status {status!r}; statuses: {', '.join(statuses)}", field="status")
    if preset:
        with error_field("preset"):
            find_preset(preset)
