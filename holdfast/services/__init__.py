"""Start, find, supervise and stop the embedded PostgreSQL, Temporal and worker."""

from holdfast.services.service_discovery import is_worker_running
from holdfast.services.service_lifecycle import attach_to_services, start_services, stop_services
from holdfast.settings import Endpoints

__all__ = [
    "Endpoints",
    "attach_to_services",
    "is_worker_running",
    "start_services",
    "stop_services",
]
