"""Which of the services that the state names are alive, and where they are."""

from holdfast.services import postgres, processes, temporal_server
from holdfast.services.state import State, load_state
from holdfast.settings import Endpoints, Settings, temporal_target
from holdfast.temporal import configured_namespace


def has_postgres(settings: Settings, state: State) -> bool:
    """Whether the database is there: a configured one counts as there."""
    if not settings.uses_embedded_database:
        return True
    return processes.is_alive(state.postgres) and postgres.answers(settings.home)


def has_temporal(settings: Settings, state: State) -> bool:
    """Whether Temporal is there: a configured one counts as there."""
    if not settings.uses_embedded_temporal:
        return True
    port = state.temporal_port
    return processes.is_alive(state.temporal) and port is not None and temporal_server.answers(port)


def worker_is_running(settings: Settings) -> bool:
    """Whether the supervisor that `up` started is alive, and so a worker is or soon will be."""
    return processes.is_alive(load_state(settings.home).worker)


def endpoints(settings: Settings, state: State) -> Endpoints:
    """Where the services are, as the settings and the state say."""
    address = temporal_target()
    url = settings.database_url
    return Endpoints(
        database_url=postgres.url(settings.home) if url is None else url.get_secret_value(),
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
