"""The services that Holdfast brings along: PostgreSQL, Temporal and a worker, in one folder."""

from holdfast.services.lifecycle import attach, down, up
from holdfast.services.running import worker_is_running
from holdfast.settings import Endpoints

__all__ = ["Endpoints", "attach", "down", "up", "worker_is_running"]
