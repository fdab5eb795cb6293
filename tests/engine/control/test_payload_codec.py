"""Tests that Temporal reads nothing of a job under the payload codec, whose keys can be changed."""

import asyncio
import base64
import json
import os
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict
from temporalio.api.common.v1 import Payload, Payloads
from temporalio.client import Client, WorkflowHistory

from holdfast.jobs.current_status import pending_activities
from holdfast.jobs.job_controller import JobController
from holdfast.models.errors import BadConfiguration
from holdfast.temporal.payload_codec import EncryptingCodec
from holdfast.temporal.payload_keyring import read_keyring
from tests.support.endpoints.scripted_model import ScriptedModel, ScriptedReply
from tests.support.endpoints.scripted_roles import ScriptedRoles, extractor_script
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import running_engine
from tests.support.services.http_service import HttpService
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = [pytest.mark.slow, pytest.mark.conformance("OPS-06")]

WORDS = ("zanzibarite", "quarrymaster", "wollastonite", "serpentine")
"""In the question, in a label, in what a tool answers, and in the words of a person."""


def new_key(name: str) -> str:
    return f"{name}:{base64.b64encode(os.urandom(32)).decode()}"


def readable_words(history: str) -> set[str]:
    """The words that a history has in plain text, or in a payload's bytes."""
    texts = [history]

    def collect(value: Any) -> None:
        if isinstance(value, dict):
            for each in value.values():
                collect(each)
        elif isinstance(value, list):
            for each in value:
                collect(each)
        elif isinstance(value, str):
            try:
                texts.append(base64.b64decode(value, validate=True).decode(errors="ignore"))
            except ValueError:
                return

    collect(json.loads(history))
    return {word for word in WORDS if any(word in text for text in texts)}


async def history_of(temporal: Client, job_id: str) -> WorkflowHistory:
    return await temporal.get_workflow_handle(job_id).fetch_history()


@pytest.mark.parametrize("is_encrypted", [True, False])
async def test_histories_attributes_and_summaries_have_nothing_of_an_encrypted_job(
    is_encrypted: bool,
    temporal: Client,
    database_url: str,
    tmp_path: Path,
    model: ScriptedModel,
    players: ScriptedRoles,
    tools: ScriptedTools,
) -> None:
    tools.answers = lambda _: "found wollastonite"
    labelled = lookup_task("T1", query="a").model_copy(update={"description": "ask a quarrymaster"})
    players.plan = plan(labelled, final_task("T2", "T1"))
    players.parts["extractor"] = lambda asked: ScriptedReply.of(
        extractor_script("found", 0.9)(asked), delay=600
    )
    keys = new_key("a") if is_encrypted else None
    async with running_engine(
        temporal,
        database_url,
        tmp_path,
        model_url=model.url,
        tools_url=tools.url,
        payload_keys=keys,
    ) as engine:
        job_id = await engine.submit("Where is zanzibarite?")
        await asyncio.to_thread(model.wait_for, 2)
        await JobController(engine.holdfast, "maria").steer(job_id, "Look for serpentine.")
        model.release()
        job = await engine.holdfast.wait(job_id)
        described = await temporal.get_workflow_handle(job_id).describe()
        listed = [each async for each in temporal.list_workflows(f"WorkflowId = '{job_id}'")]

    history = (await history_of(temporal, job_id)).to_json()
    attributes = {pair.key.name for pair in described.typed_search_attributes}
    seen = readable_words(history) | readable_words(
        json.dumps([MessageToDict(described.raw_description), MessageToDict(listed[0].raw_info)])
    )
    assert job.status == "done"
    assert attributes >= {"HoldfastStatus", "HoldfastPreset"}
    if is_encrypted:
        assert seen == set()
        assert "HoldfastQuestion" not in attributes
    else:
        # The words are where the test looks, unless they are encrypted.
        assert seen >= {"zanzibarite", "quarrymaster", "wollastonite"}


async def test_a_failure_that_temporal_keeps_encrypted_is_shown_in_plain_words(
    temporal: Client,
    database_url: str,
    tmp_path: Path,
    model: ScriptedModel,
    players: ScriptedRoles,
    tools: ScriptedTools,
) -> None:
    busy = ScriptedReply(status=429, headers={"retry-after": "20"}, error={"message": "slow down"})
    players.parts["planner"] = lambda _: busy
    addresses = {"model_url": model.url, "tools_url": tools.url}
    async with running_engine(
        temporal, database_url, tmp_path, payload_keys=new_key("a"), **addresses
    ) as engine:
        job_id = await engine.submit("Where is zanzibarite?")
        async with asyncio.timeout(30):
            while not (found := await pending_activities(engine.holdfast, job_id)) or (
                found[0].state != "waiting"
            ):
                await asyncio.sleep(0.05)
        described = await temporal.get_workflow_handle(job_id).describe()
        await JobController(engine.holdfast, "maria").cancel(job_id)

    assert "slow down" in found[0].last_failure
    assert "slow down" not in json.dumps(MessageToDict(described.raw_description))


async def test_a_new_key_encrypts_and_the_old_one_still_decrypts() -> None:
    old, new = new_key("2026a"), new_key("2026b")
    payload = Payload(metadata={"encoding": b"json/plain"}, data=b'"zanzibarite"')
    before = await EncryptingCodec(read_keyring(old)).encode([payload])

    both = EncryptingCodec(read_keyring(f"{new}, {old}"))
    after = await both.encode([payload])

    assert [each.metadata["holdfast-key"] for each in (*before, *after)] == [b"2026a", b"2026b"]
    assert await both.decode([*before, *after, payload]) == [payload] * 3
    assert await both.encode(after) == after
    with pytest.raises(BadConfiguration, match="key '2026a', which HOLDFAST_PAYLOAD_KEYS does not"):
        await EncryptingCodec(read_keyring(new)).decode(before)


async def test_a_payload_that_was_changed_or_renamed_is_refused() -> None:
    first, second = new_key("a"), new_key("b")
    codec = EncryptingCodec(read_keyring(f"{first},{second}"))
    (sealed,) = await codec.encode([Payload(data=b"zanzibarite")])
    last = bytes([sealed.data[-1] ^ 1])
    changed = Payload(metadata=dict(sealed.metadata), data=sealed.data[:-1] + last)
    renamed = Payload(metadata={**sealed.metadata, "holdfast-key": b"b"}, data=sealed.data)

    for each in (changed, renamed):
        with pytest.raises(BadConfiguration, match="or was changed"):
            await codec.decode([each])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("zanzibarite", "entry 1 .* is not NAME:KEY"),
        ("a:zanzibarite", "key 'a' .* is not 32 bytes"),
        (f"{new_key('a')},{new_key('a')}", "names key 'a' twice"),
    ],
    ids=["no name", "no key", "twice"],
)
def test_keys_that_cannot_be_used_are_refused_without_showing_them(given: str, words: str) -> None:
    with pytest.raises(BadConfiguration, match=words) as refused:
        read_keyring(given)

    assert "zanzibarite" not in str(refused.value)


async def test_the_codec_routes_encrypt_and_decrypt_for_administrators(
    temporal: Client, database_url: str, tmp_path: Path
) -> None:
    plain = Payloads(payloads=[Payload(metadata={"encoding": b"json/plain"}, data=b'"stone"')])
    async with running_engine(
        temporal, database_url, tmp_path, polls=False, payload_keys=new_key("a")
    ) as engine:
        with HttpService(engine.holdfast, writes=True) as serving:
            async with serving.client() as client:
                body = {"name": "ui", "owner": "maria"}
                key = (await client.post("/keys", json=body)).json()["key"]
                sealed = (await client.post("/codec/encode", json=MessageToDict(plain))).json()
                opened = (await client.post("/codec/decode", json=sealed)).json()
                wrong = await client.post("/codec/decode", json={"payloads": [{"data": "?"}]})
                client.headers["Authorization"] = f"Bearer {key}"
                refused = await client.post("/codec/decode", json=sealed)

    assert opened == MessageToDict(plain)
    assert sealed != opened
    assert (wrong.status_code, refused.status_code) == (400, 403)
