"""What activities share: the database, the models by name, and the jobs' unchanging requests."""

from dataclasses import dataclass, field

from models.errors import BadConfiguration
from models.jobs import EXTRACTIVE, JobRequest
from models.orders import RunOrder
from models.prices import Prices
from roles.base import Model
from storage import jobs
from storage.database import Database

_KEPT_REQUESTS = 500


@dataclass(frozen=True)
class Models:
    """The models a worker can use: the built-in one, and whatever its endpoint serves."""

    extractive: Model
    endpoint: Model | None = None
    prices: Prices = field(default_factory=Prices)

    def named(self, name: str) -> Model:
        """The model that plays the roles of a job which asked for `name`.

        Raises:
            BadConfiguration: this worker has no endpoint.
        """
        if name == EXTRACTIVE:
            return self.extractive
        if self.endpoint is None:
            raise BadConfiguration(
                f"model {name!r} needs an endpoint, and this worker has none: set OPENAI_API_KEY "
                f"or OPENAI_BASE_URL for the worker, or use --model {EXTRACTIVE}"
            )
        return self.endpoint


@dataclass(frozen=True)
class Requests:
    """What jobs asked for: within a workflow run it never changes, so a worker reads it once."""

    db: Database
    _known: dict[tuple[str, int], JobRequest] = field(default_factory=dict)

    async def of(self, order: RunOrder) -> JobRequest:
        run = (order.job_id, order.epoch)
        if run not in self._known:
            if len(self._known) >= _KEPT_REQUESTS:
                self._known.pop(next(iter(self._known)))
            self._known[run] = (await jobs.load(self.db, order.job_id)).request
        return self._known[run]
