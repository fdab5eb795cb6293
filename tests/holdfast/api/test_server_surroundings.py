"""Tests for what stands between a client and the server: names, proxies, TLS, slow and greedy
clients."""

import asyncio
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest
import trustme
from structlog.testing import capture_logs

from holdfast.access.api_keys import create_key
from holdfast.api import bounded_connection
from holdfast.api.http_server import Certificate
from holdfast.models.access.access_scopes import Scope
from holdfast.models.errors import BadConfiguration, BadInput
from holdfast.web.page_address import signing_in_address
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.http_service import HttpService

pytestmark = pytest.mark.slow

_Serve = Callable[..., HttpService]
_PATIENCE_S = 60
_PROXIES_KEEP_S = 60
"""The usual time after which nginx and load balancers use an idle connection no longer."""


@pytest.fixture
def serve(idle_engine: RunningEngine, tmp_path: Path) -> Iterator[_Serve]:
    """Start a server over a file `holdfast.toml` of these lines."""
    started: list[HttpService] = []

    def start(lines: str = "", certificate: Certificate | None = None) -> HttpService:
        file = tmp_path / "holdfast.toml"
        file.write_text(lines)
        settings = idle_engine.holdfast.settings.model_copy(update={"config_file": file})
        holdfast = replace(idle_engine.holdfast, settings=settings)
        serving = HttpService(holdfast, writes=True, certificate=certificate)
        serving.__enter__()
        started.append(serving)
        return serving

    yield start
    for serving in started:
        serving.__exit__(None, None, None)


async def test_a_server_has_the_names_that_the_file_gives_it(serve: _Serve) -> None:
    serving = serve('[http]\nnames = ["research.example.org"]\n')

    assert (await serving.get("/jobs", Host="research.example.org")).status_code == 200
    assert (await serving.get("/jobs", Host="localhost")).status_code == 200
    assert (await serving.get("/jobs", Host="evil.example.org")).status_code == 400


@pytest.mark.parametrize(
    ("lines", "is_believed"),
    [
        ('[http]\ntrusted_proxies = ["127.0.0.0/8"]\n', True),
        ('[http]\ntrusted_proxies = ["10.0.0.1"]\n', False),
        ("", False),
    ],
)
async def test_only_a_named_proxy_says_how_the_request_came(
    serve: _Serve, lines: str, is_believed: bool
) -> None:
    serving = serve(lines)
    address = signing_in_address(serving.holdfast.settings, serving.url)

    async with httpx2.AsyncClient(trust_env=False, timeout=_PATIENCE_S) as client:
        answer = await client.get(address, headers={"X-Forwarded-Proto": "https"})

    assert ("; Secure" in answer.headers["set-cookie"]) is is_believed


async def test_a_server_with_a_certificate_speaks_tls(serve: _Serve, tmp_path: Path) -> None:
    authority = trustme.CA()
    issued = authority.issue_cert("127.0.0.1")
    files = Certificate(tmp_path / "certificate.pem", tmp_path / "key.pem")
    issued.private_key_pem.write_to_path(files.key)
    for part in issued.cert_chain_pems:
        part.write_to_path(files.file, append=True)
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    serving = serve(certificate=files)

    assert serving.url.startswith("https://127.0.0.1:")
    headers = {"Authorization": f"Bearer {serving.token}"}
    async with httpx2.AsyncClient(verify=trusting, trust_env=False, headers=headers) as client:
        assert (await client.get(f"{serving.url}/v1/jobs", timeout=_PATIENCE_S)).json() == []
    with pytest.raises(BadInput, match="give two PEM files that belong together"):
        Certificate(files.key, files.file).check()


@pytest.mark.parametrize("drips", [False, True], ids=["silent", "a byte at a time"])
async def test_half_a_request_is_closed_in_time(
    serve: _Serve, monkeypatch: pytest.MonkeyPatch, drips: bool
) -> None:
    monkeypatch.setattr(bounded_connection, "HEAD_TIMEOUT_S", 0.5)
    serving = serve()

    with closing(_connection(serving)) as connection:
        connection.sendall(b"GET /v1/jobs HTTP/1.1\r\nHost: local")
        assert await asyncio.to_thread(_is_closed, connection, drips)


@pytest.mark.long
async def test_a_connection_that_waits_long_for_its_answers_stays_open(
    serve: _Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded_connection, "HEAD_TIMEOUT_S", 0.5)
    serving = serve()
    job_id = await _waiting_job(serving)

    async with serving.client() as client:
        for _ in range(2):
            answer = await client.get(f"/jobs/{job_id}/wait?seconds=1")
            assert answer.status_code == 200, answer.text


def test_idle_connections_stay_open_for_longer_than_proxies_use_them(serve: _Serve) -> None:
    config = serve()._server.config

    assert config.timeout_keep_alive > _PROXIES_KEEP_S


async def test_a_request_with_two_lengths_is_refused(serve: _Serve) -> None:
    serving = serve()

    with closing(_connection(serving)) as connection:
        connection.sendall(
            b"POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        )
        answer = await asyncio.to_thread(_whole, connection)

    assert answer.startswith(b"HTTP/1.1 400")
    assert b"not both" in answer


@pytest.mark.long
async def test_an_upload_whose_sender_leaves_in_the_middle_is_no_failure_of_the_server(
    serve: _Serve,
) -> None:
    serving = serve()
    head = (
        "POST /v1/collections/harbour/documents HTTP/1.1\r\nHost: localhost\r\n"
        f"Authorization: Bearer {serving.token}\r\nContent-Length: 1000\r\n"
        "Content-Type: multipart/form-data; boundary=b\r\n\r\n--b\r\n"
    )

    with capture_logs() as logs:
        with closing(_connection(serving)) as connection:
            connection.sendall(head.encode())
        async with asyncio.timeout(_PATIENCE_S):
            while not (told := [each for each in logs if each["event"].startswith("request.")]):
                await asyncio.sleep(0.01)

    assert [each["event"] for each in told] == ["request.cut_off"]
    assert (await serving.get("/uploads")).json() == []


async def test_a_key_has_so_many_streams_and_gets_another_for_one_that_ends(
    serve: _Serve,
) -> None:
    serving = serve("[http]\nstreams = 2\nstreams_per_key = 1\n")
    job_id = await _waiting_job(serving)
    made = await create_key(
        serving.holdfast.db, name="laptop", owner="dana", scopes=[Scope.ADMIN], days=1, by="test"
    )
    headers = {"Authorization": f"Bearer {made.key}"}
    events = f"/jobs/{job_id}/events"

    async with httpx2.AsyncClient(
        base_url=f"{serving.url}/v1", headers=headers, trust_env=False, timeout=_PATIENCE_S
    ) as client:
        async with client.stream("GET", events) as first:
            assert first.status_code == 200
            second = await client.get(events)
            assert second.status_code == 429
            assert "open streams, which is the most that a key may have" in second.json()["detail"]
            assert int(second.headers["retry-after"]) > 0
            async with serving.events(job_id), serving.client() as others:
                assert "takes no more" in (await others.get(events)).json()["detail"]
        async with asyncio.timeout(_PATIENCE_S):
            while True:
                async with client.stream("GET", events) as again:
                    if again.status_code == 200:
                        break


async def test_answers_stay_out_of_caches_and_of_other_sites(serve: _Serve) -> None:
    answer = await serve().get("/jobs")

    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("lines", ["", '[http]\norigins = ["https://app.example.org"]\n'])
async def test_scripts_of_other_sites_read_only_where_the_file_names_the_site(
    serve: _Serve, lines: str
) -> None:
    serving = serve(lines)
    sites = ("https://app.example.org", "https://evil.example.org")
    asked = {
        "Access-Control-Request-Method": "POST",
        # The clients of OpenAI and of MCP send headers of their own.
        "Access-Control-Request-Headers": "authorization, x-stainless-os, mcp-protocol-version",
    }

    allowed, asked_first, may_send = [], [], []
    async with serving.client() as client:
        for site in sites:
            answer = await client.get("/jobs/none", headers={"Origin": site})
            allowed.append(answer.headers.get("access-control-allow-origin"))
            first = await client.options("/jobs", headers={"Origin": site, **asked})
            asked_first.append(first.headers.get("access-control-allow-origin"))
            may_send.append(first.is_success)

    named = sites[0] if lines else None
    assert allowed == asked_first == [named, None]
    assert may_send == [bool(lines), False]
    assert "access-control-allow-credentials" not in answer.headers
    assert answer.status_code == 404


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ('names = ["https://a.b"]', "http.names: .*names = "),
        ('trusted_proxies = ["proxy"]', "no address or network such as"),
        ('origins = ["*"]', "http.origins: .*app.example.org"),
        ("streams = 0", "http.streams: .*streams = 1000"),
        ('tls = "yes"', "http.tls is not a known key"),
    ],
)
async def test_a_mistake_in_the_file_is_named(serve: _Serve, lines: str, reason: str) -> None:
    from holdfast.configuration.http_settings import read_http

    file = serve().holdfast.settings.config_file
    assert file is not None
    file.write_text(f"[http]\n{lines}\n")

    with pytest.raises(BadConfiguration, match=reason):
        read_http(file)


async def _waiting_job(serving: HttpService) -> str:
    async with serving.client() as client:
        answer = await client.post("/jobs", json={"question": "Who built the pier?"})
    return str(answer.json()["job_id"])


def _connection(serving: HttpService) -> socket.socket:
    target = urlsplit(serving.url)
    return socket.create_connection((target.hostname, target.port), timeout=_PATIENCE_S)


def _whole(connection: socket.socket) -> bytes:
    """Everything that the server sends until it closes the connection."""
    return b"".join(iter(lambda: connection.recv(10_000), b""))


def _is_closed(connection: socket.socket, drips: bool) -> bool:
    """True once the server has closed the connection, to which bytes go on being sent."""
    connection.settimeout(0.05)
    for _ in range(_PATIENCE_S * 20):
        try:
            if drips:
                connection.send(b"h")
            if not connection.recv(100):
                return True
        except TimeoutError:
            continue
        except OSError:
            return True
    return False
