"""Format the provenance of a citation as lines of text."""

import json

from holdfast.cli.render.terminal_output import shortened_line
from holdfast.models.reports.provenance_views import LedgerCall, Provenance, TemporalLocation


def trace_lines(provenance: Provenance) -> list[str]:
    """Every step from the sentence of the report back to the passage that was read."""
    citation = provenance.citation
    via = f", via {citation.via}" if citation.via else ""
    fetched_by = provenance.fetched_by
    lines = [
        *_sentence_lines(provenance),
        f"    in Temporal  {_location_text(provenance.writing)}",
        f"depends on {_evidence_text(provenance)}",
        f"    quote        {shortened_line(citation.quote, 300)}",
        f"    found in     {citation.address}{via}, characters {citation.start}-{citation.end}",
        f"    passage      {_passage_text(provenance)}",
        *_check_lines(provenance),
        f"    extracted by {_call_text(provenance.extracted_by) or 'rules'}",
        f"    fetched by   {_call_text(fetched_by) or 'a call that is not recorded'}",
        *_argument_lines(fetched_by),
    ]
    if provenance.repeated:
        lines.append(f"    answer from  the identical {_call_text(provenance.repeated)}")
    lines.append(f"    in Temporal  {_location_text(provenance.working)}")
    return [*lines, *(f"    note         {note}" for note in provenance.notes)]


def _sentence_lines(provenance: Provenance) -> list[str]:
    lines = []
    for sentence in provenance.sentences:
        text = shortened_line(sentence.text, 300)
        lines.append(f"[{provenance.mark}] {sentence.part}: {text}")
        if sentence.level:
            lines.append(f"    evidence     {sentence.level}")
        lines.append(f"    written by   {_call_text(sentence.written_by) or sentence.note}")
        if sentence.written_by and sentence.note:
            lines.append(f"                 {sentence.note}")
    return lines


def _evidence_text(provenance: Provenance) -> str:
    evidence = f"evidence {provenance.citation.evidence_id} ({provenance.status})"
    if provenance.value is None:  # a sentence that an agent or a loop proved belongs to no value
        return f"{evidence}, found by {provenance.task_id}"
    value = shortened_line(json.dumps(provenance.value, ensure_ascii=False), 200)
    return f"{evidence}: {provenance.task_id}.{provenance.entity} = {value}"


def _passage_text(provenance: Provenance) -> str:
    source = f"source {provenance.citation.source_id}, sha256 {provenance.citation.sha256}"
    place = f"characters {provenance.source_start}-{provenance.source_end}"
    outcome = "the quote is there" if provenance.resolves else "THE QUOTE IS NOT THERE"
    return f"{source}, {place}: {outcome}"


def _check_lines(provenance: Provenance) -> list[str]:
    check = provenance.check
    return [f"    read again   {check.checked_at:%Y-%m-%d %H:%M}: {check.verdict}"] if check else []


def _argument_lines(call: LedgerCall | None) -> list[str]:
    if call is None or call.arguments is None:
        return []
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    return [f"    with         {shortened_line(arguments, 400)}"]


def _call_text(call: LedgerCall | None) -> str:
    """`tool call 12 of T1 (attempt 1): corpus.search, done 12:01:07`, and how it was recovered."""
    if call is None:
        return ""
    kind = "model" if call.role else "tool"
    name = f"{call.role} ({call.name})" if call.role else call.name
    at = f" {call.finished_at:%Y-%m-%d %H:%M:%S}" if call.finished_at else ""
    place = f"of {call.task_id} (attempt {call.attempt})"
    parts = [f"{kind} call {call.id} {place}: {name}, {call.status}{at}"]
    if call.recovered_in is not None:
        parts.append(f"continued in recovery {call.recovered_in}")
    if call.reused:
        parts.append(f"its record was used {_times(call.reused)} after a restart")
    if call.sends > 1:
        parts.append(f"sent {_times(call.sends)}")
    return "; ".join(parts)


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _location_text(location: TemporalLocation) -> str:
    activity = f"workflow {location.workflow_id}, activity {location.activity_id}"
    if location.missing:
        return f"{activity}: {location.missing}"
    events = f"event {location.scheduled_event}"
    if location.closed_event:
        events += f" to {location.closed_event} ({location.outcome})"
    return f"{activity}, run {location.run_id}, {events}"
