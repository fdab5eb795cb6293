"""Where what is cited comes from: who gave it, which calls, which events; and reading it again."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from temporalio.client import Client

from holdfast.cli.source import marked, source_lines
from holdfast.cli.trace import trace_lines
from holdfast.provenance import provenance_of
from holdfast.reading import report_of
from holdfast.rechecking import recheck
from holdfast.rendering import to_html, to_markdown
from models.checks import Drift
from models.errors import NotFound
from models.plan import Input
from storage import views
from storage.sources import source_view
from tests.support.engine import Engine, running_engine
from tests.support.plans import final, node, plan, tool
from tests.support.players import Players, extraction
from tests.support.scripted_model import ScriptedModel
from tests.support.scripted_tools import ScriptedTools
from tests.support.serving import Serving

pytestmark = pytest.mark.slow

LAMP = "The lamp was lit in 1871 by Ada Brink."
FOG = "The fog horn cost 400 crowns."
"""Each stands in a document of its own."""


class Shelf:
    """The folder that a server of the user's own reads; `[servers.NAME]` of holdfast.toml."""

    def __init__(self, folder: Path, name: str, *flags: str) -> None:
        self.folder, self.name = folder / name, name
        self.folder.mkdir()
        command = [sys.executable, str(Path("tests/servers/shelf.py").absolute())]
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
        inputs = (Input(name="words", value=words),)
        used = f"{self.name}.{called}"
        return tool(name, yields="fact").model_copy(update={"tool": used, "inputs": inputs})


@asynccontextmanager
async def engine_with(
    temporal: Client, url: str, home: Path, model: ScriptedModel, *shelves: Shelf
) -> AsyncIterator[Engine]:
    toml = "".join(each.toml for each in shelves)
    async with running_engine(temporal, url, home, model_url=model.url, toml=toml) as engine:
        yield engine


def _final(*after: str) -> Any:
    return final("T9", *after).model_copy(
        update={"inputs": tuple(Input(name=f"from_{n}", value=f"<JSON_PATH>{n}.fact</JSON_PATH>",
                                      is_reference=True) for n in after)}
    )  # fmt: skip


@pytest.mark.conformance("BEY-07", "BEY-09", "WAVE-06")
async def test_a_citation_leads_back_to_who_gave_it_and_says_what_became_of_it(
    temporal: Client, database_url: str, tmp_path: Path, model: ScriptedModel, players: Players
) -> None:
    kb = Shelf(tmp_path, "kb", "--reads")
    plain = Shelf(tmp_path, "plain")
    kb.put("lamp", LAMP, title="The\nlamp \x1b[31m\u202e", date="1931-04-02")
    kb.put("fog", FOG, address="https://lights.example/fog", date="yesterday")
    plain.put("keeper", "Ida Marsh kept the light.")
    plain.put("boat", "The boat was the Patience.")
    players.plan = plan(
        kb.task("T1", "lamp"), kb.task("T2", "fog"), plain.task("T3", "Ida", "say"),
        plain.task("T4", "boat", "once"), plain.task("T5", "Ida", "say"),
        _final("T1", "T2", "T3", "T4", "T5"),
    )  # fmt: skip
    async with engine_with(temporal, database_url, tmp_path, model, kb, plain) as engine:
        job = await engine.run("Who lit it?")
        assert job.status == "done", job.message
        report = await report_of(engine.holdfast, job.job_id)
        by_quote = {each.quote: each for each in report.citations}
        lamp, fog = by_quote[LAMP], by_quote[FOG]

        # Who gave it: a server of one's own cannot speak as another.
        assert (lamp.address, lamp.via, lamp.tool, lamp.date) == (
            "kb:lamp.md", "kb", "kb.find", "1931-04-02",
        )  # fmt: skip
        assert lamp.title == "The lamp [31m"
        assert (fog.address, fog.via, fog.date) == ("https://lights.example/fog", "kb", "")
        place = "kb:lamp.md, 1931-04-02, via kb, characters 0-38"
        assert place in to_markdown(report)
        assert place in to_html(report)
        view = await source_view(engine.db, lamp.source_id)
        assert view.is_intact
        assert [each.evidence_id for each in view.evidence] == [lamp.evidence_id]
        assert marked(view.text, view.evidence) == f"⟦{LAMP}⟧"
        assert any("kb.find, a server of your own" in line for line in source_lines(view))

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
        ida = by_quote["Ida Marsh kept the light."]
        other = await provenance_of(engine.holdfast, job.job_id, ida.mark)
        assert other.fetched_by
        assert other.fetched_by.name == "plain.say"
        with pytest.raises(NotFound, match="no mark 77; its marks: 1 to"):
            await provenance_of(engine.holdfast, job.job_id, 77)
        with Serving(engine.holdfast) as serving:
            told = (await serving.get(f"/jobs/{job.job_id}/provenance/{lamp.mark}")).json()
            shown = (await serving.get(f"/sources/{lamp.source_id}")).json()
            wrong = await serving.get("/sources/0x1")
        assert told == found.model_dump(mode="json")
        assert shown["text"] == LAMP
        assert wrong.status_code == 404

        # Reading it again: all as it was, but for what cannot be read twice.
        first = await _rechecked(engine, job.job_id)
        assert first.pop(by_quote["The boat was the Patience."].mark) is Drift.UNREADABLE
        assert set(first.values()) == {Drift.UNCHANGED}

        # One document is wrapped anew behind a new beginning, one changed, one went.
        kb.put("lamp", "New here.", LAMP.replace(" lit", "\n  lit"))
        kb.put("fog", FOG.replace("400", "900"), address="https://lights.example/fog")
        (plain.folder / "keeper.json").unlink()
        again = await _rechecked(engine, job.job_id)
        assert again[lamp.mark] is Drift.MOVED
        assert again[fog.mark] is Drift.CHANGED
        assert again[by_quote["Ida Marsh kept the light."].mark] is Drift.GONE
        view = await source_view(engine.db, fog.source_id)
        assert view.evidence[0].check
        assert view.evidence[0].check.nearest == FOG.replace("400", "900")
        (kb.folder / "fog.json").unlink()
        assert (await _rechecked(engine, job.job_id))[fog.mark] is Drift.GONE

        # The report and its evidence stay; who reads it is told.
        later = await report_of(engine.holdfast, job.job_id)
        assert later.citations == report.citations
        assert later.rechecked_at
        assert any(f"mark {fog.mark} were gone" in each for each in later.warnings)
        assert not any(f"mark {lamp.mark} " in each for each in later.warnings)
        assert "last read again on" in to_markdown(later)
        events = await views.events_after(engine.db, job.job_id, 0)
        looks = [each.facts for each in events if each.kind == "sources.rechecked"]
        assert [each["found"]["gone"] for each in looks] == [0, 1, 2]
        assert looks[0]["by"] == "tester"


async def _rechecked(engine: Engine, job_id: str) -> dict[int, Drift]:
    found = await recheck(engine.holdfast, engine.parts.hub, job_id, by="tester")
    return {each.mark: each.verdict for each in found.checks}


async def test_reused_calls_recovered_calls_and_a_lost_history_are_said_to_be(
    temporal: Client, database_url: str, tmp_path: Path, model: ScriptedModel, players: Players
) -> None:
    shelf = Shelf(tmp_path, "kb")
    shelf.put("lamp", LAMP)
    # The second task asks the same once the first has its answer: none is sent.
    second = shelf.task("T2", "lamp").model_copy(update={"depends_on": ("T1",)})
    players.plan = plan(shelf.task("T1", "lamp"), second, _final("T1", "T2"))
    quotes = {"find fact for T1": "The lamp was lit", "find fact for T2": "by Ada Brink"}
    players.parts["extractor"] = lambda asked: extraction(
        "Ada", 0.9, quote=quotes[asked.task["description"]]
    )(asked)
    async with engine_with(temporal, database_url, tmp_path, model, shelf) as engine:
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
        assert found.fetched_by.repeats == found.repeated.id
        assert (found.fetched_by.task_id, found.repeated.task_id) == ("T2", "T1")
        assert found.notes == ()
        assert "does not answer" in found.working.missing
        assert found.working.activity_id == "T2"
        assert any("taken from the identical call" in line for line in trace_lines(found))
        async with engine.db.writing() as connection:
            await connection.execute(text("update sources set text = 'forged'"))
            await connection.execute(
                text(
                    "insert into recoveries (job_id, number, cause, lost, lost_at, resumed_at)"
                    " select id, 1, 'worker', 'w', now(), now() from jobs"
                )
            )
            await connection.execute(text(
                "insert into recovered_calls (job_id, recovery, kind, call_id, was_reused)"
                " select job_id, 1, 'tool', id, true from tool_calls"
            ))  # fmt: skip
        forged = await provenance_of(away, job.job_id, mark)
        assert not forged.resolves
        assert forged.fetched_by
        assert forged.fetched_by.recovered_in == 1
        lines = trace_lines(forged)
        assert any("THEY DO NOT STAND THERE" in line for line in lines)
        assert any("taken up again in recovery 1" in line for line in lines)


async def test_what_a_step_of_an_agent_found_leads_to_that_step(
    engine: Engine, players: Players, tools: ScriptedTools
) -> None:
    players.plan = plan(node("T1", about="Who lit it?", yields="final_answer"))
    tools.answers = lambda asked: LAMP
    job = await engine.run("Who lit it?", preset_name="tdp")
    (citation,) = (await report_of(engine.holdfast, job.job_id)).citations

    found = await provenance_of(engine.holdfast, job.job_id, citation.mark)

    assert (found.task_id, found.working.activity_id) == ("T1.1", "T1.1")
    assert found.working.scheduled_event
    assert found.working.outcome == "completed"
    assert found.fetched_by
    assert found.fetched_by.name == "lab.wikipedia_search"


async def test_a_slow_or_a_dead_server_slows_no_other_one(
    temporal: Client, database_url: str, tmp_path: Path, model: ScriptedModel, players: Players
) -> None:
    slow, quick = Shelf(tmp_path, "slow", "--reads"), Shelf(tmp_path, "quick", "--reads")
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
        assert set((await checking).values()) == {Drift.UNCHANGED}

        (quick.folder / "closed").touch()
        found = await recheck(engine.holdfast, engine.parts.hub, job.job_id, by="tester")
        (closed,) = [each for each in found.checks if each.verdict is Drift.UNREADABLE]
        assert "the reading room is closed" in closed.note
        # What could not be read takes nothing from what is known.
        assert (await report_of(engine.holdfast, job.job_id)).warnings == ()


async def _kept(engine: Engine) -> int:
    async with engine.db.reading() as connection:
        return int(await connection.scalar(text("select count(*) from source_checks")) or 0)
