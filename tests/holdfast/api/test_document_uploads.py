"""Tests for uploads: documents sent over HTTP are read in the background into a collection."""

import asyncio
import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Message

from holdfast.api.request_limits import RequestLimits
from holdfast.corpus.uploads.upload_acceptance import SentFile, UploadRequest, accept_upload
from holdfast.corpus.uploads.upload_queue import UploadQueue
from holdfast.corpus.uploads.upload_staging import UploadStaging
from holdfast.storage.corpus.upload_rows import load_upload
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.http_service import HttpService

pytestmark = pytest.mark.slow

PIER = "# The pier\n\nThe east pier was built by Ada Marlow in 1868.\n"
BODY_BOUND = 200_000_000


@pytest.fixture
def serving(idle_engine: RunningEngine) -> Iterator[HttpService]:
    with HttpService(idle_engine.holdfast, writes=True) as serving:
        yield serving


def form(*names: str, text: str = PIER) -> list[tuple[str, tuple[str, bytes]]]:
    return [("files", (name, f"{text}{name}\n".encode())) for name in names]


async def ended(client: httpx2.AsyncClient, location: str) -> dict[str, Any]:
    """The upload once it has ended."""
    while True:
        upload: dict[str, Any] = (await client.get(location)).json()
        if upload["status"] in ("done", "failed"):
            return upload
        await asyncio.sleep(0.05)


def named_client(serving: HttpService, key: str) -> httpx2.AsyncClient:
    headers = {"Authorization": f"Bearer {key}"}
    return httpx2.AsyncClient(base_url=serving.url, headers=headers, trust_env=False, timeout=30)


async def key_of(serving: HttpService, owner: str) -> str:
    async with serving.client() as client:
        body = {"name": "laptop", "owner": owner, "scopes": ["read", "ask"]}
        return str((await client.post("/keys", json=body)).json()["key"])


def kept_folders(serving: HttpService) -> Sequence[str]:
    folder = serving.holdfast.settings.home / "uploads"
    return [each.name for each in folder.iterdir()] if folder.exists() else []


async def while_there_are(serving: HttpService) -> None:
    while kept_folders(serving):
        await asyncio.sleep(0.05)


async def test_a_folder_is_read_in_the_background_and_can_then_be_searched(
    serving: HttpService,
) -> None:
    files = [*form("pier.md", "old/1868/log.txt"), ("files", ("boat.exe", b"MZ"))]
    async with named_client(serving, await key_of(serving, "maria")) as client:
        sent = await client.post(
            "/v1/collections/harbour/documents",
            files=files,
            data={"metadata": '{"Kind": "minutes"}'},
        )
        upload = await ended(client, sent.headers["Location"])
        found = await client.post(
            "/v1/collections/harbour/search",
            json={"query": "Marlow", "where": {"kind": ["minutes"]}},
        )
        documents = (await client.get("/v1/collections/harbour/documents")).json()
        listed = (await client.get("/v1/uploads")).json()

    assert (sent.status_code, sent.json()["status"]) == (202, "waiting")
    assert (upload["status"], upload["collection"], upload["files"]) == ("done", "harbour", 3)
    assert upload["progress"] == {"activity": "reading", "done": 3, "total": 3}
    assert (upload["result"]["added"], upload["result"]["unchanged"]) == (2, 0)
    assert [each["path"] for each in upload["result"]["skipped"]] == ["boat.exe"]
    assert {each["address"] for each in documents} == {"pier.md", "old/1868/log.txt"}
    assert (found.json()["collection"], len(found.json()["passages"])) == ("harbour", 2)
    assert [each["id"] for each in listed] == [upload["id"]]
    await while_there_are(serving)


async def test_an_upload_adds_to_its_collection_or_replaces_it(serving: HttpService) -> None:
    async with serving.client() as client:
        addresses, languages = [], []
        for name, replaces in (("a.md", "false"), ("b.md", "false"), ("c.md", "true")):
            sent = await client.post(
                "/collections/harbour/documents",
                files=form(name),
                data={"replace": replaces, "language": "finnish" if name == "b.md" else ""},
            )
            await ended(client, sent.headers["Location"].removeprefix("/v1"))
            languages.append((await client.get("/collections")).json()[0]["language"])
            documents = (await client.get("/collections/harbour/documents")).json()
            addresses.append([each["address"] for each in documents])

    assert addresses == [["a.md"], ["a.md", "b.md"], ["c.md"]]
    assert languages == ["english", "finnish", "finnish"]


_REFUSED_FORMS: tuple[tuple[list[str], dict[str, str], str], ...] = (
    (["../evil.md"], {}, "leads out of the folder"),
    (["/etc/cron.d/evil.md"], {}, "leads out of the folder"),
    (["a//b.md"], {}, "leads out of the folder"),
    (["a\\..\\b.md"], {}, "cannot name a file"),
    (["a\u202e.md"], {}, "cannot name a file"),
    (["x" * 300 + ".md"], {}, "is too long"),
    (["d/" * 30 + "a.md"], {}, "is too long"),
    (["a.md", "a.md"], {}, "two files are named"),
    (["a", "a/b.md"], {}, "of a file and of a folder"),
    (["a.md"], {"metadata": "[1]"}, "metadata is a JSON object"),
    (["a.md"], {"metadata": '{"kind": ""}'}, "each with a value"),
    (["a.md"], {"replace": "perhaps"}, "replace is true or false"),
    (
        ["a.md"],
        {"language": "elvish"},
        "there is no language 'elvish'; choose one of simple, arabic,",
    ),
    (["a.md"], {"owner": "otto"}, "unknown fields: 'owner'"),
    ([], {"replace": "true"}, "multipart/form-data"),
)


async def test_a_form_that_cannot_be_used_is_refused_and_nothing_is_kept(
    serving: HttpService,
) -> None:
    async with serving.client() as client:
        for names, data, told in _REFUSED_FORMS:
            files = form(*names)
            answer = await client.post("/collections/harbour/documents", files=files, data=data)

            assert answer.status_code == 400, answer.text
            assert told in answer.json()["detail"]
        uploads = (await client.get("/uploads")).json()

    assert (uploads, kept_folders(serving)) == ([], [])


async def test_more_files_than_allowed_are_refused(serving: HttpService) -> None:
    async with serving.client() as client:
        names = [f"{number}.md" for number in range(1001)]
        answer = await client.post("/collections/harbour/documents", files=form(*names))

    assert answer.status_code == 400
    assert "1000" in answer.json()["detail"]
    assert kept_folders(serving) == []


@pytest.mark.parametrize(
    ("path", "kind", "bound"),
    [
        ("/v1/collections/a/b/documents", "multipart/form-data; boundary=x", BODY_BOUND),
        ("/collections/a/documents", "multipart/form-data; boundary=x", BODY_BOUND),
        ("/ask", "multipart/form-data; boundary=x", BODY_BOUND),
        ("/v1/collections/a/documents", "application/json", 2_000_000),
        ("/v1/jobs", "multipart/form-data; boundary=x", 2_000_000),
        # Routes that read a body before they know who sent it, with an end of the sender's choice.
        ("/v1/quotas/owner/ask", "multipart/form-data; boundary=x", 2_000_000),
        ("/jobs/J/questions/ask", "multipart/form-data; boundary=x", 2_000_000),
        ("/jobs/collections/a/documents", "multipart/form-data; boundary=x", 2_000_000),
        ("/a/v1/bundles", "multipart/form-data; boundary=x", 2_000_000),
        ("/ask\n", "multipart/form-data; boundary=x", 2_000_000),
    ],
)
async def test_only_an_upload_may_be_large(path: str, kind: str, bound: int) -> None:
    statuses = [await status_of(path, kind, size) for size in (bound, bound + 1)]

    assert statuses == [200, 413]


async def status_of(path: str, kind: str, size: int) -> int:
    """The status of a request whose body states this size."""
    sent: list[Message] = []

    async def keep(message: Message) -> None:
        sent.append(message)

    async def nothing() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    headers = [(b"content-type", kind.encode()), (b"content-length", str(size).encode())]
    scope = {"type": "http", "method": "POST", "path": path, "headers": headers}
    await RequestLimits(PlainTextResponse("taken"))(scope, nothing, keep)
    return int(sent[0]["status"])


async def test_files_of_a_sender_without_key_are_not_read(serving: HttpService) -> None:
    async with named_client(serving, "hf_none") as client:
        answer = await client.post("/v1/collections/a/documents", files=form("a.md"))

    assert (answer.status_code, kept_folders(serving)) == (401, [])


async def test_another_owner_sees_no_upload(serving: HttpService) -> None:
    async with named_client(serving, await key_of(serving, "maria")) as client:
        sent = await client.post("/v1/collections/harbour/documents", files=form("a.md"))
        await ended(client, sent.headers["Location"])

    async with named_client(serving, await key_of(serving, "otto")) as client:
        shown = await client.get(sent.headers["Location"])
        listed = (await client.get("/v1/uploads")).json()
        collections = (await client.get("/v1/collections")).json()
        asked = {"question": "Who?", "collection": "harbour"}
        refusals = [
            await client.get("/v1/collections/harbour/documents"),
            await client.delete("/v1/collections/harbour/documents"),
            await client.post("/v1/collections/harbour/search", json={"query": "pier"}),
            await client.post("/v1/jobs", json=asked),
        ]

    assert (shown.status_code, listed, collections) == (404, [], [])
    assert {answer.status_code for answer in refusals} == {404}
    for answer in refusals:
        assert answer.json()["detail"] == "there is no collection 'harbour'; collections: none yet"


async def test_a_failed_upload_says_why_and_not_where_the_server_keeps_files(
    serving: HttpService,
) -> None:
    async with serving.client() as client:
        sent = await client.post(
            "/collections/harbour/documents", files=[("files", ("a.exe", b"MZ"))]
        )
        upload = await ended(client, sent.headers["Location"].removeprefix("/v1"))

    assert (upload["status"], upload["result"]) == ("failed", None)
    assert re.match(r"the upload has no document that can be read", upload["message"])
    assert str(serving.holdfast.settings.home) not in upload["message"]


async def test_the_upload_of_a_killed_server_is_read_by_the_next(
    idle_engine: RunningEngine,
) -> None:
    holdfast = idle_engine.holdfast
    file = SentFile("pier.md", io.BytesIO(PIER.encode()), len(PIER))
    # A queue that does not run is a server that was killed after its answer.
    waiting = await accept_upload(
        UploadQueue(holdfast.settings, holdfast.db),
        UploadRequest("maria", "pier", [file], {}, False),
    )

    with HttpService(holdfast, writes=True) as serving:
        async with serving.client() as client:
            upload = await ended(client, f"/uploads/{waiting.id}")

    assert (waiting.status, upload["status"], upload["result"]["added"]) == ("waiting", "done", 1)
    assert (await load_upload(holdfast.db, waiting.id)).finished_at is not None


def test_two_servers_do_not_read_one_upload(tmp_path: Path) -> None:
    staging = UploadStaging(tmp_path)
    staging.store("upload-1", [])

    with staging.claimed("upload-1") as first, staging.claimed("upload-1") as second:
        assert (first, second) == (True, False)
    with staging.claimed("upload-1") as again:
        assert again
    with staging.claimed("upload-2") as missing:
        assert not missing
