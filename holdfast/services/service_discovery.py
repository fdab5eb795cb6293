"""Report which services of a home folder are running, and build their endpoints."""

from holdfast.services import detached_processes
from holdfast.services.servers import postgres_server, temporal_server
from holdfast.services.service_state import ServiceState, load_state
from holdfast.settings import Endpoints, Settings, temporal_target
from holdfast.temporal.temporal_connection import configured_namespace


def is_postgres_running(settings: Settings, state: ServiceState) -> bool:
    """True if the embedded database runs or another database is configured."""
    if not settings.uses_embedded_database:
        return True
    return detached_processes.is_alive(state.postgres) and postgres_server.is_postgres_answering(
        settings.home
    )


def is_temporal_running(settings: Settings, state: ServiceState) -> bool:
    """True if the embedded Temporal runs or another Temporal is configured."""
    if not settings.uses_embedded_temporal:
        return True
    port = state.temporal_port
    return (
        detached_processes.is_alive(state.temporal)
        and port is not None
        and temporal_server.is_temporal_answering(port)
    )


def is_worker_running(settings: Settings) -> bool:
    """True if the supervisor is alive, which starts a worker whenever none runs."""
    return detached_processes.is_alive(load_state(settings.home).worker)


def service_endpoints(settings: Settings, state: ServiceState) -> Endpoints:
    """Return the addresses of the services from the settings and the state."""
    address = temporal_target()
    url = settings.database_url
    return Endpoints(
        database_url=postgres_server.url(settings.home) if url is None else url.get_secret_value(),
        temporal_address=address or f"{temporal_server.HOST}:{state.temporal_port}",
        temporal_namespace=configured_namespace() if address else "default",
        temporal_ui=(
            settings.temporal_ui_url
            if address
            else f"http://{temporal_server.HOST}:{state.ui_port}"
        ),
        embedded_database=url is None,
        embedded_temporal=address is None,
    )
