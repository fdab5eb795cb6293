"""Tests for the provenance of citations: the server, the calls and the events behind a source, and
reading the source again."""

import asyncio
import io
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from temporalio.client import Client

from holdfast.bundles.bundle_import import import_bundle
from holdfast.bundles.bundle_writer import write_bundle
from holdfast.cli.render.evidence.source_lines import mark_quotes, source_lines
from holdfast.cli.render.evidence.trace_lines import trace_lines
from holdfast.corpus.missing_documents import missing_documents_note
from holdfast.evidence.report_provenance import provenance_of
from holdfast.evidence.source_recheck import recheck_sources
from holdfast.jobs.job_lookup import report_of
from holdfast.models.errors import NotFound
from holdfast.models.evidence.source_checks import SourceDrift
from holdfast.models.jobs.job_fork import Fork
from holdfast.models.plans.research_plan import TaskInput
from holdfast.records.job_update import update_job
from holdfast.reports.html_rendering import to_html
from holdfast.reports.markdown_and_json_rendering import to_markdown
from holdfast.roles.reports.sentence_corrector import SENTENCE_CORRECTOR
from holdfast.roles.reports.synthesiser import SYNTHESISER
from holdfast.storage.corpus.corpus_store import CorpusStore
from holdfast.storage.evidence.source_queries import load_source_view
from holdfast.storage.jobs import job_rows
from holdfast.storage.views import job_queries
from tests.support.endpoints.scripted_model import ScriptedModel
from tests.support.endpoints.scripted_roles import ScriptedRoles, extractor_script
from tests.support.jobs.plan_builders import agent_task, final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine, running_engine
from tests.support.services.http_service import HttpService
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow

LAMP = "The lamp was lit in 1871 by Ada Brink."
FOG = "The fog horn cost 400 crowns."
"""Each stands in a document of its own."""


class DocumentFolder:
    """The folder that a server of the user's own reads; `[servers.NAME]` of holdfast.toml."""

    def __init__(self, folder: Path, name: str, *flags: str) -> None:
        self.folder, self.name = folder / name, name
        self.folder.mkdir()
        command = [sys.executable, str(Path("tests/servers/document_folder_server.py").absolute())]
        command += [str(self.folder), *flags]
        self.toml = f"[servers.{name}]\ncommand = {json.dumps(command)}\n"

    def put(self, file: str, *texts: str, address: str = "", at: int = 0, **facts: Any) -> None:
        passages, start = [], at
        for each in texts:
            passages.append({"text": each, "start": start})
            start += len(each) + 1
        told = {"address": address or f"{file}.md", "passages": passages} | facts
        (self.folder / f"{file}.json").write_text(json.dumps(told))

    def task(self, name: str, words: str, called: str = "find") -> Any:
        inputs = (TaskInput(name="words", value=words),)
        used = f"{self.name}.{called}"
        return lookup_task(name, yields="fact").model_copy(update={"tool": used, "inputs": inputs})


@asynccontextmanager
async def engine_with(
    temporal: Client, url: str, home: Path, model: ScriptedModel, *folders: DocumentFolder
) -> AsyncIterator[RunningEngine]:
    toml = "".join(each.toml for each in folders)
    async with running_engine(temporal, url, home, model_url=model.url, toml=toml) as engine:
        yield engine


def _final(*after: str) -> Any:
    return final_task("T9", *after).model_copy(
        update={
            "inputs": tuple(
                TaskInput(
                    name=f"from_{n}", value=f"<JSON_PATH>{n}.fact</JSON_PATH>", is_reference=True
                )
                for n in after
            )
        }
    )


@pytest.mark.conformance("BEY-07", "BEY-09", "WAVE-06")
@pytest.mark.long
async def test_a_citation_leads_back_to_who_gave_it_and_says_what_became_of_it(
    temporal: Client,
    database_url: str,
    tmp_path: Path,
    model: ScriptedModel,
    players: ScriptedRoles,
) -> None:
    kb = DocumentFolder(tmp_path, "kb", "--reads")
    plain = DocumentFolder(tmp_path, "plain")
    kb.put("lamp", LAMP, title="The\nlamp \x1b[31m\u202e", date="1931-04-02")
    kb.put("fog", FOG, address="https://lights.example/fog", date="yesterday")
    plain.put("keeper", "Ida Marsh kept the light.")
    plain.put("boat", "The boat was the Patience.")
    players.plan = plan(
        kb.task("T1", "lamp"),
        kb.task("T2", "fog"),
        plain.task("T3", "Ida", "say"),
        plain.task("T4", "boat", "once"),
        plain.task("T5", "Ida", "say"),
        _final("T1", "T2", "T3", "T4", "T5"),
    )
    async with engine_with(temporal, database_url, tmp_path, model, kb, plain) as engine:
        job = await engine.run("Who lit it?")
        assert job.status == "done", job.message
        report = await report_of(engine.holdfast, job.job_id)
        by_quote = {each.quote: each for each in report.citations}
        lamp, fog = by_quote[LAMP], by_quote[FOG]

        # Who gave it: a server of one's own cannot speak as another.
        assert (lamp.address, lamp.via, lamp.tool, lamp.date) == (
            "kb:lamp.md",
            "kb",
            "kb.find",
            "1931-04-02",
        )
        assert lamp.title == "The lamp [31m"
        assert (fog.address, fog.via, fog.date) == ("https://lights.example/fog", "kb", "")
        place = "kb:lamp.md, 1931-04-02, via kb"
        assert f"({place})\n  - [1] characters 0-38\n" in to_markdown(report)
        page = to_html(report)
        assert place in page
        assert "characters 0-38" in page
        view = await load_source_view(engine.db, lamp.source_id)
        assert view.is_intact
        assert [each.evidence_id for each in view.evidence] == [lamp.evidence_id]
        assert mark_quotes(view.text, view.evidence) == f"⟦{LAMP}⟧"
        assert any("kb.find, a tool server of your own" in line for line in source_lines(view))

        # Where it comes from.
        found = await provenance_of(engine.holdfast, job.job_id, lamp.mark)
        assert found.resolves
        assert found.citation == lamp
        assert {each.part for each in found.sentences} == {"summary", "findings"}
        assert found.sentences[0].written_by
        assert found.sentences[0].written_by.role == "synthesiser"
        assert found.fetched_by
        assert found.fetched_by.arguments == {"words": "lamp"}
        assert found.extracted_by
        assert found.extracted_by.role == "extractor"
        assert found.notes == ()
        history = await temporal.get_workflow_handle(job.job_id).fetch_history()
        for at, name in ((found.working, "T1"), (found.writing, "report")):
            assert at.scheduled_event
            event = history.events[at.scheduled_event - 1]
            assert event.activity_task_scheduled_event_attributes.activity_id == name
            assert (at.run_id, at.outcome) == (job.temporal.run_id, "completed")
        assert any("activity T1, run" in line for line in trace_lines(found))
        assert "    evidence     single source" in trace_lines(found)
        ida = by_quote["Ida Marsh kept the light."]
        other = await provenance_of(engine.holdfast, job.job_id, ida.mark)
        assert other.fetched_by
        assert other.fetched_by.name == "plain.say"
        with pytest.raises(NotFound, match="no mark 77; its marks: 1 to"):
            await provenance_of(engine.holdfast, job.job_id, 77)
        with HttpService(engine.holdfast) as serving:
            told = (await serving.get(f"/jobs/{job.job_id}/provenance/{lamp.mark}")).json()
            shown = (await serving.get(f"/jobs/{job.job_id}/sources/{lamp.source_id}")).json()
            wrong = await serving.get(f"/jobs/{job.job_id}/sources/0x1")
        assert told == found.model_dump(mode="json")
        assert shown["text"] == LAMP
        assert wrong.status_code == 422

        # Reading it again: all as it was, but for what cannot be read twice.
        first = await _rechecked(engine, job.job_id)
        assert first.pop(by_quote["The boat was the Patience."].mark) is SourceDrift.UNREADABLE
        assert set(first.values()) == {SourceDrift.UNCHANGED}

        # One document is wrapped anew behind a new beginning, one changed, one went.
        kb.put("lamp", "New here.", LAMP.replace(" lit", "\n  lit"))
        kb.put("fog", FOG.replace("400", "900"), address="https://lights.example/fog")
        (plain.folder / "keeper.json").unlink()
        again = await _rechecked(engine, job.job_id)
        assert again[lamp.mark] is SourceDrift.MOVED
        assert again[fog.mark] is SourceDrift.CHANGED
        assert again[by_quote["Ida Marsh kept the light."].mark] is SourceDrift.GONE
        view = await load_source_view(engine.db, fog.source_id)
        assert view.evidence[0].check
        assert view.evidence[0].check.nearest_text == FOG.replace("400", "900")
        (kb.folder / "fog.json").unlink()
        assert (await _rechecked(engine, job.job_id))[fog.mark] is SourceDrift.GONE

        # The report and its evidence stay; who reads it is told.
        later = await report_of(engine.holdfast, job.job_id)
        assert later.citations == report.citations
        assert later.rechecked_at
        assert any(f"mark {fog.mark} were gone" in each for each in later.warnings)
        assert not any(f"mark {lamp.mark} " in each for each in later.warnings)
        assert "last read again on" in to_markdown(later)
        events = await job_queries.events_after(engine.db, job.job_id, 0)
        looks = [each.facts for each in events if each.kind == "sources.rechecked"]
        assert [each["found"]["gone"] for each in looks] == [0, 1, 2]
        assert looks[0]["by"] == "tester"


@pytest.mark.conformance("BEY-07")
@pytest.mark.long
async def test_a_sentence_that_was_mended_leads_to_the_call_that_mended_it(
    temporal: Client,
    database_url: str,
    tmp_path: Path,
    model: ScriptedModel,
    players: ScriptedRoles,
) -> None:
    kb = DocumentFolder(tmp_path, "kb")
    kb.put("lamp", LAMP)
    players.plan = plan(kb.task("T1", "lamp"), _final("T1"))
    wrong, right = "Ada Brink lit the lamp in 1899 (E1).", "Ada Brink lit the lamp in 1871 (E1)."
    players.parts[SYNTHESISER.name] = lambda _: {"summary": [{"text": wrong, "evidence": ["E1"]}]}
    players.parts[SENTENCE_CORRECTOR.name] = lambda _: {
        "sentences": [{"id": "S1", "text": right, "evidence": ["E1"]}]
    }
    async with engine_with(temporal, database_url, tmp_path, model, kb) as engine:
        job = await engine.run("Who lit it?")
        assert job.status == "done", job.message

        found = await provenance_of(engine.holdfast, job.job_id, 1)

        (sentence,) = found.sentences
        assert sentence.text == "Ada Brink lit the lamp in 1871."
        assert sentence.written_by
        assert sentence.written_by.role == SENTENCE_CORRECTOR.name
        assert found.writing.scheduled_event


async def _rechecked(engine: RunningEngine, job_id: str) -> dict[int, SourceDrift]:
    found = await recheck_sources(engine.holdfast, engine.parts.hub, job_id, by="tester")
    return {each.mark: each.verdict for each in found.checks}


@pytest.mark.long
async def test_reused_calls_recovered_calls_and_a_lost_history_are_said_to_be(
    temporal: Client,
    database_url: str,
    tmp_path: Path,
    model: ScriptedModel,
    players: ScriptedRoles,
) -> None:
    folder = DocumentFolder(tmp_path, "kb")
    folder.put("lamp", LAMP)
    # The second task asks the same once the first has its answer: none is sent.
    second = folder.task("T2", "lamp").model_copy(update={"depends_on": ("T1",)})
    players.plan = plan(folder.task("T1", "lamp"), second, _final("T1", "T2"))
    quotes = {"find fact for T1": "The lamp was lit", "find fact for T2": "by Ada Brink"}
    players.parts["extractor"] = lambda asked: extractor_script(
        "Ada", 0.9, quote=quotes[asked.task["description"]]
    )(asked)
    async with engine_with(temporal, database_url, tmp_path, model, folder) as engine:
        job = await engine.run("Who lit it?")
        assert job.status == "done", job.message
        citations = (await report_of(engine.holdfast, job.job_id)).citations
        mark = next(each.mark for each in citations if each.quote == "by Ada Brink")
        gone = engine.holdfast.endpoints.model_copy(update={"temporal_address": "127.0.0.1:1"})
        away = type(engine.holdfast)(engine.holdfast.settings, gone, engine.db)

        found = await provenance_of(away, job.job_id, mark)

        assert found.task_id == "T2"
        assert found.fetched_by
        assert found.repeated
        assert found.fetched_by.repeated_call_id == found.repeated.id
        assert (found.fetched_by.task_id, found.repeated.task_id) == ("T2", "T1")
        assert found.notes == ()
        assert "does not answer" in found.working.missing
        assert found.working.activity_id == "T2"
        assert any("answer from  the identical tool call" in line for line in trace_lines(found))
        async with engine.db.writing() as connection:
            await connection.execute(text("update sources set text = 'forged'"))
            await connection.execute(
                text(
                    "insert into recoveries (job_id, number, cause, lost_worker, last_seen_at, resumed_at)"
                    " select id, 1, 'worker', 'w', now(), now() from jobs"
                )
            )
            await connection.execute(
                text(
                    "insert into recovered_calls (job_id, recovery, kind, call_id, was_reused)"
                    " select job_id, 1, 'tool', id, true from tool_calls"
                )
            )
        forged = await provenance_of(away, job.job_id, mark)
        assert not forged.resolves
        assert forged.fetched_by
        assert forged.fetched_by.recovered_in == 1
        lines = trace_lines(forged)
        assert any("THE QUOTE IS NOT THERE" in line for line in lines)
        assert any("continued in recovery 1" in line for line in lines)


@pytest.mark.long
async def test_what_a_step_of_an_agent_found_leads_to_that_step(
    engine: RunningEngine, players: ScriptedRoles, tools: ScriptedTools
) -> None:
    players.plan = plan(agent_task("T1", about="Who lit it?", yields="final_answer"))
    tools.answers = lambda asked: LAMP
    job = await engine.run("Who lit it?", preset_name="tdp")
    (citation,) = (await report_of(engine.holdfast, job.job_id)).citations

    found = await provenance_of(engine.holdfast, job.job_id, citation.mark)

    assert (found.task_id, found.working.activity_id) == ("T1.1", "T1.1")
    assert found.working.scheduled_event
    assert found.working.outcome == "completed"
    assert found.fetched_by
    assert found.fetched_by.name == "lab.wikipedia_search"


@pytest.mark.conformance("BEY-09", "REC-02")
async def test_documents_that_an_import_did_not_bring_are_unreadable_and_not_gone(
    engine: RunningEngine, players: ScriptedRoles
) -> None:
    await engine.add_document("lamps", LAMP)
    players.parts["extractor"] = extractor_script("1871", 0.9, quote=LAMP)
    looked_up = lookup_task("T1", query="lamp").model_copy(update={"tool": "corpus.search"})
    players.plan = plan(looked_up, final_task("T2", "T1"))
    job = await engine.run("When was it lit?", collection="lamps", servers=("corpus",))
    assert job.status == "done", job.message
    bundle = io.BytesIO()
    await write_bundle(engine.holdfast, job.job_id, bundle)
    await import_bundle(engine.holdfast, bundle, new_id="copy")
    await import_bundle(engine.holdfast, bundle, new_id="unseen", sees=lambda _: False)
    async with CorpusStore(engine.db).writing("lamps") as writer:
        await writer.keep_only(())

    found = [
        await recheck_sources(engine.holdfast, engine.parts.hub, each, by="tester")
        for each in (job.job_id, "copy", "unseen")
    ]
    updated = await update_job(engine.holdfast, "copy", owner="", by="tester")

    assert [each.verdict for each in found[0].checks] == [SourceDrift.GONE]
    assert [each.verdict for each in found[1].checks] == [SourceDrift.UNREADABLE]
    assert [each.verdict for each in found[2].checks] == [SourceDrift.UNREADABLE]
    assert "not in this installation" in found[1].checks[0].note
    assert "imported without its collection" in found[2].checks[0].note
    imported = await job_rows.load_job(engine.db, "copy")
    fork = Fork(job="copy", origins=("copy",), day=imported.day.isoformat())
    request = imported.request.model_copy(update={"fork": fork})
    forked = imported.model_copy(update={"id": "fork", "request": request})
    assert "not in this installation" in await missing_documents_note(engine.db, forked)
    assert updated.note == "no citation changed; 1 could not be read, so the report stays"
    assert updated.job_id is None


@pytest.mark.long
async def test_a_slow_or_a_dead_server_slows_no_other_one(
    temporal: Client,
    database_url: str,
    tmp_path: Path,
    model: ScriptedModel,
    players: ScriptedRoles,
) -> None:
    slow, quick = (
        DocumentFolder(tmp_path, "slow", "--reads"),
        DocumentFolder(tmp_path, "quick", "--reads"),
    )
    for each in (slow, quick):
        each.put("lamp", f"{each.name}: {LAMP}")
    players.plan = plan(slow.task("T1", "lamp"), quick.task("T2", "lamp"), _final("T1", "T2"))
    async with engine_with(temporal, database_url, tmp_path, model, slow, quick) as engine:
        job = await engine.run("Who lit it?")
        assert job.status == "done", job.message
        (slow.folder / "hold").touch()
        checking = asyncio.create_task(_rechecked(engine, job.job_id))
        async with asyncio.timeout(30):
            while not await _kept(engine):
                await asyncio.sleep(0.05)
        assert not checking.done()
        (slow.folder / "hold").unlink()
        assert set((await checking).values()) == {SourceDrift.UNCHANGED}

        (quick.folder / "closed").touch()
        found = await recheck_sources(engine.holdfast, engine.parts.hub, job.job_id, by="tester")
        (closed,) = [each for each in found.checks if each.verdict is SourceDrift.UNREADABLE]
        assert "the reading room is closed" in closed.note
        # What could not be read takes nothing from what is known.
        assert (await report_of(engine.holdfast, job.job_id)).warnings == ()


async def _kept(engine: RunningEngine) -> int:
    async with engine.db.reading() as connection:
        return int(await connection.scalar(text("select count(*) from source_checks")) or 0)
