"""Define the key of an activity, which is the same in all of its attempts."""

from holdfast.models.frozen_model import Frozen


class ActivityKey(Frozen):
    """The activity `activity_id` in one run of a job's workflow."""

    job_id: str
    run_id: str
    activity_id: str
