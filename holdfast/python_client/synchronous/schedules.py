"""Ask questions again, and update reports, at certain times."""

from holdfast.python_client.answers import JsonObject
from holdfast.python_client.request_paths import path_part
from holdfast.python_client.synchronous.session import SyncSession


class SyncSchedules(SyncSession):
    """The schedules of an installation."""

    def create_schedule(
        self,
        times: str,
        *,
        ask: JsonObject | None = None,
        update: str | None = None,
        search: bool = False,
        time_zone: str = "UTC",
        overlap: str = "skip",
        catch_up: str = "1d",
        runs: int | None = None,
    ) -> JsonObject:
        """Ask a question, or `update` the report of a job, at the times.

        `ask` is the body of a submission: `{"question": "..."}` with its options.
        """
        body: JsonObject = {
            "times": times,
            "search": search,
            "time_zone": time_zone,
            "overlap": overlap,
            "catch_up": catch_up,
        }
        more: JsonObject = {"ask": ask, "update": update, "runs": runs}
        body |= {name: value for name, value in more.items() if value is not None}
        return self._post(JsonObject, "/schedules", body)

    def schedules(self) -> list[JsonObject]:
        """The schedules with their last and next run."""
        return self._get(list[JsonObject], "/schedules")

    def schedule(self, schedule_id: str) -> JsonObject:
        """One schedule."""
        return self._get(JsonObject, f"/schedules/{path_part(schedule_id)}")

    def schedule_runs(self, schedule_id: str, *, limit: int = 20) -> list[JsonObject]:
        """The newest runs of a schedule, and what changed from one to the next."""
        return self._get(list[JsonObject], f"/schedules/{path_part(schedule_id)}/runs", limit=limit)

    def pause_schedule(self, schedule_id: str) -> JsonObject:
        """Begin no more runs; a running job goes on."""
        return self._post(JsonObject, f"/schedules/{path_part(schedule_id)}/pause")

    def resume_schedule(self, schedule_id: str) -> JsonObject:
        """Begin runs again; what was due meanwhile is left out."""
        return self._post(JsonObject, f"/schedules/{path_part(schedule_id)}/resume")

    def run_schedule(self, schedule_id: str) -> JsonObject:
        """Run a schedule now, besides its times."""
        return self._post(JsonObject, f"/schedules/{path_part(schedule_id)}/run")

    def end_schedule(self, schedule_id: str) -> JsonObject:
        """End a schedule for good; its jobs stay."""
        return self._delete(JsonObject, f"/schedules/{path_part(schedule_id)}")
