"""Tests that what a caller gives as an id stays one part of the path, and that no redirect counts as
an answer."""

from collections.abc import Iterator

import pytest

from holdfast import Client
from holdfast.python_client import ApiError, InvalidRequest
from tests.support.services.fixed_server import FixedServer


@pytest.fixture
def redirecting() -> Iterator[tuple[Client, list[str]]]:
    """A client of a server that redirects, and the paths that it was asked for."""
    elsewhere = {"Location": "https://elsewhere.example/v1"}
    with FixedServer(307, elsewhere) as server, Client(server.url, patience_s=0) as client:
        yield client, server.paths


def test_an_id_stays_one_part_of_the_path(redirecting: tuple[Client, list[str]]) -> None:
    client, paths = redirecting
    for ask in (
        lambda: client.remove("../keys/k"),
        lambda: client.job("a?b#c"),
        lambda: client.trace("j", "1/../2"),  # type: ignore[arg-type]  # a caller's mistake
        lambda: client.documents("x/../y z"),
        lambda: next(client.follow("../keys")),
    ):
        with pytest.raises(ApiError):
            ask()

    assert [path.partition("?")[0] for path in paths] == [
        "/v1/jobs/..%2Fkeys%2Fk",
        "/v1/jobs/a%3Fb%23c",
        "/v1/jobs/j/provenance/1%2F..%2F2",
        "/v1/collections/x%2F..%2Fy%20z/documents",
        "/v1/jobs/..%2Fkeys/events",
    ]


@pytest.mark.parametrize("name", ["", ".", ".."])
def test_an_id_that_names_another_path_is_refused_before_it_is_sent(
    name: str, redirecting: tuple[Client, list[str]]
) -> None:
    client, paths = redirecting
    with pytest.raises(InvalidRequest, match="is no id or name"):
        client.job(name)
    with pytest.raises(InvalidRequest, match="is no id or name"):
        client.remove_documents(name)

    assert paths == []


def test_a_redirect_is_an_error_that_names_the_other_address(
    redirecting: tuple[Client, list[str]],
) -> None:
    client, _ = redirecting
    with pytest.raises(ApiError, match=r"https://elsewhere\.example") as asked:
        client.job("job-1")
    with pytest.raises(ApiError, match=r"https://elsewhere\.example"):
        next(client.follow("job-1"))

    assert asked.value.status == 307
