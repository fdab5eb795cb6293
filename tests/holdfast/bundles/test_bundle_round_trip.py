"""Tests that a bundle has the whole job, and that an imported job is used as any other."""

import io
import json
import re
import zipfile
from base64 import b64decode
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from holdfast.bundles import bundle_writer
from holdfast.bundles.bundle_check import check_bundle
from holdfast.bundles.bundle_import import import_bundle
from holdfast.bundles.bundle_signature import read_public_key, read_signing_key
from holdfast.bundles.bundle_writer import write_bundle
from holdfast.bundles.row_redaction import LEFT_OUT_TEXT
from holdfast.evidence.report_provenance import provenance_of
from holdfast.jobs.job_lookup import report_of
from holdfast.jobs.job_removal import remove_ended_job
from holdfast.models.bundles.bundle_manifest import Redaction
from holdfast.models.errors import BadInput
from holdfast.models.wire.event_kinds import EventKind
from holdfast.records.fork_submission import ForkSubmission
from holdfast.records.job_forking import preview_fork
from holdfast.storage.core.tables.all_tables import metadata
from holdfast.storage.corpus.corpus_records import NewDocument
from holdfast.storage.corpus.corpus_store import CorpusStore
from holdfast.storage.jobs import job_rows
from holdfast.storage.jobs.exported_tables import EXPORTED_TABLES, LEFT_OUT_TABLES
from holdfast.storage.jobs.job_import import NO_CALL, load_job_import
from holdfast.storage.views import job_queries
from tests.support.endpoints.scripted_roles import ScriptedRoles, extractor_script
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.key_files import key_files
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow

QUESTION = "When was the light of Ouzel Stack built?"


@pytest.fixture
async def job(engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools) -> str:
    """A job that is done, two of whose calls were one."""
    tools.answers = lambda argument: f"The light {argument} was built in 1862."
    players.parts["extractor"] = extractor_script("1862", 0.9, quote="was built in 1862")
    players.plan = plan(
        lookup_task("T1", query="Ouzel"), lookup_task("T2", query="Ouzel"), final_task("T3", "T1")
    )
    done = await engine.run(QUESTION)
    assert done.status == "done", done.message
    return done.job_id


async def exported(engine: RunningEngine, job: str, **options: Any) -> io.BytesIO:
    out = io.BytesIO()
    await write_bundle(engine.holdfast, job, out, **options)
    return out


def content(bundle: io.BytesIO) -> dict[str, bytes]:
    with zipfile.ZipFile(bundle) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


async def rows(engine: RunningEngine, job: str) -> dict[str, int]:
    async with engine.db.reading() as connection:
        return {
            name: (
                await connection.execute(
                    text(f"select count(*) from {name} where job_id = :job"), {"job": job}
                )
            ).scalar_one()
            for name, table in EXPORTED_TABLES.items()
            if "job_id" in table.c
        }


def without(document: Any, names: Iterable[str]) -> Any:
    if isinstance(document, list):
        return [without(each, names) for each in document]
    if not isinstance(document, dict):
        return document
    return {name: without(each, names) for name, each in document.items() if name not in names}


@pytest.mark.conformance("WAVE-09")
async def test_an_imported_job_is_the_job_that_was_exported(
    engine: RunningEngine, job: str
) -> None:
    bundle = await exported(engine, job)

    imported = await import_bundle(engine.holdfast, bundle, new_id="copy", owner="somebody")

    assert imported.is_new
    numbers = {"evidence_id", "source_id", "job_id", "temporal"}
    for shown in (engine.holdfast.show, lambda name: report_of(engine.holdfast, name)):
        own, copy = [await shown(name) for name in (job, "copy")]
        assert without(copy.model_dump(mode="json"), numbers) == without(
            own.model_dump(mode="json"), numbers
        )
    expected = await rows(engine, job)
    assert await rows(engine, "copy") == expected | {"events": expected["events"] + 1}
    assert expected["model_calls"]
    assert expected["evidence"]
    traced = await provenance_of(engine.holdfast, "copy", 1)
    assert traced.resolves
    assert traced.fetched_by is not None
    last = (await job_queries.events_after(engine.db, "copy", expected["events"]))[0]
    assert last.kind == EventKind.JOB_IMPORTED
    origin = await load_job_import(engine.db, "copy")
    assert origin is not None
    assert origin.job_id == job
    again = await import_bundle(engine.holdfast, bundle, new_id="copy")
    assert not again.is_new
    with pytest.raises(BadInput, match="does not come from this bundle"):
        await import_bundle(engine.holdfast, bundle)
    await remove_ended_job(engine.holdfast, "copy")
    assert sum((await rows(engine, "copy")).values()) == 0


def test_every_table_of_a_job_is_exported_or_left_out_for_a_reason() -> None:
    of_jobs = {
        table.name
        for table in metadata.sorted_tables
        if any(key.column.table.name == "jobs" for key in table.foreign_keys)
    }

    assert of_jobs - set(EXPORTED_TABLES) == LEFT_OUT_TABLES


@pytest.mark.conformance("WAVE-09")
async def test_the_bundle_has_the_texts_the_history_and_no_secret(
    engine: RunningEngine, job: str
) -> None:
    bundle = await exported(engine, job)

    files = content(bundle)
    assert [name for name in files if name.startswith("history/")]
    assert any(b"was built in 1862" in files[name] for name in files if name.startswith("sources/"))
    assert b"sk-test-key" not in b"".join(files.values())
    assert "<mark>was built in 1862</mark>" in files["index.html"].decode()
    assert "<script" not in files["index.html"].decode()
    check = check_bundle(bundle)
    assert check.sources
    assert check.quotes
    assert check.signed_by == ""


@pytest.mark.long
async def test_the_page_of_a_bundle_says_causes_kinds_and_calls_in_words(
    engine: RunningEngine, job: str
) -> None:
    page = content(await exported(engine, job))["index.html"].decode()

    text = " ".join(re.sub(r"<[^>]+>", " ", page).split())
    assert "1. The plan was made; added: T1, T2, T3" in text
    assert "T1 (a call of a tool):" in text
    assert "reading what was found scripted answered" in text
    for word in ("superseded", "synthesiser", "extractor", " planned:"):
        assert word not in text


@pytest.mark.long
async def test_an_imported_job_names_no_workflow_and_misses_the_documents_that_it_searched(
    engine: RunningEngine, job: str
) -> None:
    assert (await engine.holdfast.show(job)).temporal.run_id is not None
    bundle = rewritten(content(await exported(engine, job)), "jobs", {"collection": "papers"})
    await import_bundle(engine.holdfast, bundle, new_id="copy")

    shown = (await engine.holdfast.show("copy")).temporal
    traced = await provenance_of(engine.holdfast, "copy", 1)
    task = ForkSubmission(tasks=("T1",))
    before = await preview_fork(engine.holdfast, "copy", task, owner="", by="dana")
    async with CorpusStore(engine.db).writing("papers") as writer:
        said = "The light was built in 1862."
        await writer.put(NewDocument("a.md", "Light", said, "x", 1, [("", 0, len(said))]))
    after = await preview_fork(engine.holdfast, "copy", task, owner="", by="dana")

    assert (shown.run_id, shown.url) == (None, None)
    assert traced.working.missing == "the job was imported: it ran in another Temporal"
    assert "until the collection 'papers' has them" in before.note
    assert after.note == ""


async def test_a_secret_inside_of_a_payload_of_a_history_is_masked(
    engine: RunningEngine, job: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "`kpi-chain`, model"
    monkeypatch.setattr(bundle_writer, "known_secrets", lambda *_: [secret])

    files = content(await exported(engine, job))

    histories = [files[name].decode() for name in files if name.startswith("history/")]
    payloads = [b64decode(each) for h in histories for each in re.findall(r'"data": "(.+?)"', h)]
    assert payloads
    assert secret.encode() not in b"".join(payloads)
    assert b"preset " + b"*" * len(secret) in b"".join(payloads)


async def test_a_redacted_bundle_says_what_it_left_out_and_contains_none_of_it(
    engine: RunningEngine, job: str
) -> None:
    bundle = await exported(engine, job, redacted=[Redaction.QUESTIONS, Redaction.SOURCES])

    files = content(bundle)
    whole = b"".join(files.values())
    assert QUESTION.encode() not in whole
    # The payloads of a history are in base64, where nothing can be found and replaced.
    assert not [name for name in files if name.startswith("history/")]
    assert b"The light Ouzel was built" not in whole
    check = check_bundle(bundle)
    assert "histories of Temporal" in check.missing[0]
    assert set(check.redacted) == set(Redaction), "prompts contain what sources contain"
    imported = await import_bundle(engine.holdfast, bundle, new_id="redacted")
    assert imported.question != QUESTION
    assert (await report_of(engine.holdfast, "redacted")).citations[0].quote == ""
    with pytest.raises(BadInput, match=r"left out of the bundle .* nor be forked"):
        await preview_fork(
            engine.holdfast, "redacted", ForkSubmission(tasks=("T1",)), owner="", by="dana"
        )


@pytest.mark.long
async def test_what_repeats_a_left_out_source_is_left_out_wherever_it_stands(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    sentence = "The lamp was lit by Dr. Åsa Holm on the first night of winter."
    tools.answers = lambda _: f"Of the stack. {sentence} Nobody saw it."
    players.parts["extractor"] = extractor_script(sentence, 0.9, quote=sentence)
    players.plan = plan(lookup_task("T1", query="Ouzel"), final_task("T2", "T1"))
    job_id = (await engine.run(QUESTION)).job_id

    files = content(await exported(engine, job_id, redacted=[Redaction.SOURCES]))

    kept = {name: bytes.decode(each) for name, each in files.items()}
    assert not [name for name, each in kept.items() if "first night of winter" in each]
    assert LEFT_OUT_TEXT in kept["memory.json"]
    assert QUESTION in kept["report.md"]
    whole = content(await exported(engine, job_id))
    assert b"first night of winter" in whole["memory.json"], "or the test would find nothing"


@pytest.mark.long
async def test_figures_and_what_no_evidence_quotes_are_left_out(
    engine: RunningEngine, job: str
) -> None:
    read = "The light Ouzel was built in 1862."
    figure = (
        "insert into figures (job_id, call_id, sha256, media_type, title, data) select job_id, "
        "min(id), :sha256, 'image/png', :question, '\\x00' from tool_calls where job_id = :job "
        "group by job_id"
    )
    changes = (
        "delete from evidence where job_id = :job",
        "update entities set value = to_jsonb(cast(:read as text)) where job_id = :job",
        figure,
    )
    values = {"job": job, "read": read, "sha256": "a" * 64, "question": QUESTION}
    async with engine.db.writing() as connection:
        for change in changes:
            await connection.execute(text(change), values)

    whole, unsourced, unasked = [
        content(await exported(engine, job, redacted=redacted))
        for redacted in ([], [Redaction.SOURCES], [Redaction.QUESTIONS])
    ]

    assert read in whole["memory.json"].decode(), "or the test would find nothing"
    assert read.encode() not in b"".join(unsourced.values())
    assert [name for name in whole if name.startswith("figures/")]
    for files in (unsourced, unasked):
        assert not [name for name in files if name.startswith("figures/")]
        assert not files["data/figures.jsonl"]


@pytest.mark.long
async def test_a_question_is_left_out_in_parts_but_not_of_what_sources_say(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    tools.answers = lambda _: f"{QUESTION} It was built in 1862."
    players.parts["extractor"] = extractor_script("1862", 0.9, quote="was built in 1862")
    part = "find when was the light of ouzel stack BUILT, in two sources"
    task = lookup_task("T1", query="Ouzel").model_copy(update={"description": part})
    players.plan = plan(task, final_task("T2", "T1"))
    job_id = (await engine.run(QUESTION)).job_id

    bundle = await exported(engine, job_id, redacted=[Redaction.QUESTIONS])

    assert check_bundle(bundle).quotes == 1, "the source has the hash that it was read with"
    files = content(bundle)
    sources = [name for name in files if name.startswith("sources/")]
    assert QUESTION.encode() in b"".join(files.pop(name) for name in sources)
    plan_text = files["plan.yaml"].decode()
    assert f"find {LEFT_OUT_TEXT}, in two sources" in plan_text
    data = b"".join(each for name, each in files.items() if name.startswith("data/"))
    assert b"light of ouzel stack" not in data.lower()
    await import_bundle(engine.holdfast, bundle, new_id="unasked")
    with pytest.raises(BadInput, match=r"question of job unasked was left out .* nor be forked"):
        await preview_fork(
            engine.holdfast, "unasked", ForkSubmission(tasks=("T1",)), owner="", by="dana"
        )


@pytest.mark.long
async def test_a_source_without_its_text_takes_nothing_from_another_bundle(
    engine: RunningEngine, job: str
) -> None:
    redacted = await exported(engine, job, redacted=[Redaction.SOURCES])
    await import_bundle(engine.holdfast, redacted, new_id="redacted")

    await import_bundle(engine.holdfast, await exported(engine, job), new_id="whole")

    assert (await provenance_of(engine.holdfast, "whole", 1)).resolves


async def test_an_imported_job_is_bound_to_nothing_of_other_owners(
    engine: RunningEngine, job: str
) -> None:
    links = {
        "collection": "victim/contracts",
        "key_id": "key-of-victim",
        "fork": {"job": job, "origins": [job], "day": "2026-01-02"},
        "follow_up": {"job": job, "earlier": [{"question": "And before?"}]},
    }
    files = content(rewritten(content(await exported(engine, job)), "jobs", links))
    bundle = rewritten(files, "model_calls", {"origin_call_id": 1})

    def sees(collection: str) -> bool:
        return collection.startswith("mallory/")

    await import_bundle(engine.holdfast, bundle, new_id="copy", owner="mallory", sees=sees)

    copy = await job_rows.load_job(engine.db, "copy")
    request = copy.request
    assert request.collection == ""
    assert request.fork is not None
    assert (request.fork.job, request.fork.origins) == ("", ())
    assert copy.day == date(2026, 1, 2)
    assert request.followed_job is None
    assert "And before?" in request.question_in_context
    async with engine.db.reading() as connection:
        call = "(select max(origin_call_id) from model_calls where job_id = jobs.id)"
        linked = text(f"select key_id, {call} from jobs where id = 'copy'")
        assert tuple((await connection.execute(linked)).one()) == ("", NO_CALL)
    assert (await engine.holdfast.show("copy")).forked_from is None
    again = await import_bundle(engine.holdfast, bundle, new_id="copy", owner="mallory", sees=sees)
    assert not again.is_new
    with pytest.raises(BadInput, match="of another owner"):
        await import_bundle(engine.holdfast, bundle, new_id="copy", owner="oscar", sees=sees)


async def test_a_signature_is_checked_and_names_its_key(
    engine: RunningEngine, job: str, tmp_path: Path
) -> None:
    (private, public), (_, other) = (key_files(tmp_path, name) for name in ("mine", "other"))
    bundle = await exported(engine, job, key=read_signing_key(private))

    assert check_bundle(bundle, signed_by=read_public_key(public)).signed_by
    with pytest.raises(BadInput, match="another key"):
        check_bundle(bundle, signed_by=read_public_key(other))
    files = content(bundle)
    files["manifest.json"] = files["manifest.json"].replace(b'"release"', b'"release" ')
    altered = io.BytesIO()
    with zipfile.ZipFile(altered, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    with pytest.raises(BadInput, match="altered after it was signed"):
        check_bundle(altered)


@pytest.mark.long
async def test_a_bundle_that_does_not_fit_together_stores_nothing(
    engine: RunningEngine, job: str
) -> None:
    bundle = await exported(engine, job)
    for table, change, reason in (
        ("jobs", {"status": "running"}, "only ended jobs"),
        ("jobs", {"preset": None}, "preset"),
        ("events", {"seq": "1"}, "seq has no value of its type"),
        ("sources", {"address": ["a"]}, "address is not a text"),
        ("sources", {"start_char": None}, "rows of sources do not fit together"),
        ("evidence", {"source_id": 99_999}, "stand in its source"),
        ("reports", {"body": {"question": 3}}, "cannot read the job"),
        ("tasks", {"colour": "red"}, "no column is called 'colour'"),
    ):
        altered = rewritten(content(bundle), table, change)

        with pytest.raises(BadInput, match=reason):
            await import_bundle(engine.holdfast, altered, new_id="altered")

        assert sum((await rows(engine, "altered")).values()) == 0


@pytest.mark.long
async def test_sources_of_a_bundle_that_lack_a_column_take_its_default_or_are_refused(
    engine: RunningEngine, job: str
) -> None:
    files = content(await exported(engine, job))

    with pytest.raises(BadInput, match="rows of sources do not fit together"):
        await import_bundle(engine.holdfast, without_column(files, "start_char"), new_id="unplaced")
    await import_bundle(engine.holdfast, without_column(files, "via"), new_id="copy")

    assert (await provenance_of(engine.holdfast, "copy", 1)).resolves


def without_column(files: dict[str, bytes], name: str) -> io.BytesIO:
    """The bundle whose sources lack a column."""
    path = "data/sources.jsonl"
    found = [without(json.loads(line), [name]) for line in files[path].splitlines()]
    lines = [f"{json.dumps(each)}\n" for each in found]
    return sealed(files | {path: "".join(lines).encode()})


def rewritten(files: dict[str, bytes], table: str, change: dict[str, object]) -> io.BytesIO:
    """The bundle with each row of a table changed, and with a manifest that fits again."""
    path = f"data/{table}.jsonl"
    lines = [json.dumps(json.loads(line) | change) for line in files[path].splitlines()]
    return sealed(files | {path: "".join(f"{line}\n" for line in lines).encode()})


def sealed(files: dict[str, bytes]) -> io.BytesIO:
    from hashlib import sha256

    manifest = json.loads(files["manifest.json"])
    manifest["files"] = [
        {"path": name, "size_bytes": len(data), "sha256": sha256(data).hexdigest()}
        for name, data in files.items()
        if name != "manifest.json"
    ]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in (files | {"manifest.json": json.dumps(manifest).encode()}).items():
            archive.writestr(name, data)
    return out
