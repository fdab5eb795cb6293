"""Format the check of cited sources: a table of quotes, and the quotes that changed."""

from holdfast.cli.render.plain_table import PlainTable, plain_table
from holdfast.cli.render.terminal_output import shortened_line
from holdfast.evidence.source_recheck import CitationCheck, RecheckResult


def recheck_table(result: RecheckResult) -> PlainTable:
    """Each citation with the verdict on its quote."""
    rows = [
        (f"[{check.mark}]", check.verdict.value, check.address, shortened_line(check.note, 120))
        for check in result.checks
    ]
    return plain_table(("mark", "quote", "address", "note"), rows)


def difference_lines(result: RecheckResult) -> list[str]:
    """The quotes that changed, and how to retract the first evidence that is lost."""
    lines = [line for check in result.checks for line in _difference(check)]
    lost = [check for check in result.checks if check.nearest_text or check.verdict.value == "gone"]
    if lost:
        evidence_id = lost[0].evidence_id
        lines.append(
            f"\nThe report stays as it is. `holdfast retract {result.job_id} {evidence_id} "
            "--reason ...` withdraws evidence that no longer holds, and lists what depends on it."
        )
    return lines


def _difference(check: CitationCheck) -> list[str]:
    if not check.nearest_text:
        return []
    return [
        f"\n[{check.mark}] quote:    {shortened_line(check.quote, 400)}",
        f"    now:      {shortened_line(check.nearest_text, 400)}",
    ]
