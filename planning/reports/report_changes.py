"""Say what changed from one report to a later one, in counts and in a sentence."""

from collections import Counter

from holdfast.models.evidence.evidence import Report
from holdfast.models.schedules.schedule import ReportChanges
from holdfast.planning.reports.claim_matching import ClaimChange, match_claims
from holdfast.planning.text.folded_text import fold_text

_WORDS = {
    ClaimChange.NEW: "new",
    ClaimChange.GONE: "gone",
    ClaimChange.OTHER_VALUE: "with another value",
    ClaimChange.OTHER_SUPPORT: "with other support",
}
"""What a reader wants to know of; a claim in other words says the same."""


def report_changes(earlier: Report, later: Report, compared_job: str) -> ReportChanges:
    """Return what changed in the later report; `compared_job` has the earlier one."""
    seen = Counter(each.change for each in match_claims(earlier, later))
    is_same = fold_text(earlier.answer or "").text == fold_text(later.answer or "").text
    parts = [f"{seen[change]} {words}" for change, words in _WORDS.items() if seen[change]]
    claims = f"claims: {', '.join(parts)}" if parts else "no claim changed"
    return ReportChanges(
        compared_job=compared_job,
        has_same_answer=is_same,
        claims={change.value: seen[change] for change in ClaimChange},
        in_words=f"{'the same answer' if is_same else 'another answer'}; {claims}",
    )
