"""`holdfast trace`: where a sentence of the report comes from, back to Temporal's history."""

import asyncio
import json

from holdfast.cli.installation import attached
from holdfast.cli.output import print_json, print_text, printable, short
from holdfast.provenance import provenance_of
from models.sources import CallRecord, Provenance, TemporalPlace


def trace_command(job_id: str, mark: int, *, json_output: bool) -> None:
    async def read() -> Provenance:
        # Without Temporal all but its events is known, and the answer says so.
        async with attached(needs_temporal=False) as holdfast:
            return await provenance_of(holdfast, job_id, mark)

    found = asyncio.run(read())
    if json_output:
        print_json(found)
        return
    for line in trace_lines(found):
        print_text(printable(line))


def trace_lines(found: Provenance) -> list[str]:
    """From the sentence down to what was read, a step after the other."""
    lines = []
    for each in found.sentences:
        lines.append(f"[{found.mark}] {each.part}: {short(each.text, 300)}")
        lines.append(f"    written by   {_call(each.written_by) or each.note}")
        lines += [f"                 {each.note}"] if each.written_by and each.note else []
    cited = found.citation
    via = f", via {cited.via}" if cited.via else ""
    lines += [
        f"    in Temporal  {_place(found.writing)}",
        f"rests on evidence {cited.evidence_id} ({found.status}): {_shows(found)}",
        f"    words        {short(cited.quote, 300)}",
        f"    stand in     {cited.address}{via}, characters {cited.start}-{cited.end}",
        f"    passage      source {cited.source_id}, sha256 {cited.sha256}, {_resolves(found)}",
    ]
    if found.check:
        lines.append(
            f"    read again   {found.check.checked_at:%Y-%m-%d %H:%M}: {found.check.verdict}"
        )
    lines.append(f"    extracted by {_call(found.extracted_by) or 'rules'}")
    lines.append(f"    fetched by   {_call(found.fetched_by) or 'a call that is not recorded'}")
    lines += _arguments(found.fetched_by)
    if found.repeated:
        lines.append(f"    its answer   was taken from the identical {_call(found.repeated)}")
    lines.append(f"    in Temporal  {_place(found.working)}")
    return [*lines, *(f"    note         {note}" for note in found.notes)]


def _shows(found: Provenance) -> str:
    value = short(json.dumps(found.value, ensure_ascii=False), 200)
    return f"{found.task_id}.{found.entity} = {value}"


def _resolves(found: Provenance) -> str:
    place = f"its characters {found.source_start}-{found.source_end}"
    return f"{place}: {'they stand there' if found.resolves else 'THEY DO NOT STAND THERE'}"


def _arguments(call: CallRecord | None) -> list[str]:
    if call is None or call.arguments is None:
        return []
    return [f"    with         {short(json.dumps(call.arguments, ensure_ascii=False), 400)}"]


def _call(call: CallRecord | None) -> str:
    """`call 12 of T1 (attempt 1): corpus.search, done 12:01:07`, and what was special about it."""
    if call is None:
        return ""
    who = f"{call.role} ({call.name})" if call.role else call.name
    at = f" {call.finished_at:%Y-%m-%d %H:%M:%S}" if call.finished_at else ""
    told = [f"call {call.id} of {call.task_id} (attempt {call.attempt}): {who}, {call.status}{at}"]
    if call.recovered_in is not None:
        told.append(f"taken up again in recovery {call.recovered_in}")
    if call.reused:
        told.append(f"its record was used {call.reused} times after a restart")
    if call.sends > 1:
        told.append(f"sent {call.sends} times")
    return "; ".join(told)


def _place(place: TemporalPlace) -> str:
    where = f"workflow {place.workflow_id}, activity {place.activity_id}"
    if place.missing:
        return f"{where}: {place.missing}"
    events = f"event {place.scheduled_event}"
    if place.closed_event:
        events += f" to {place.closed_event} ({place.outcome})"
    return f"{where}, run {place.run_id}, {events}"
