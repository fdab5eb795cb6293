"""Compare offline jobs with keyword search that cites the same number of passages."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from holdfast.evals.measures.answer_metrics import best_f1, is_exact_match, is_in_passages
from holdfast.evals.measures.confidence_figures import (
    RatedAnswer,
    confidence_figures,
    confidence_lines,
)
from holdfast.evals.offline.offline_job import OfflineJob
from holdfast.models.evidence.answer_routes import RouteTable

_SHARES = {
    "EM": "EM",
    "F1": "F1",
    "answered": "answered",
    "answer-in": "ans-in",
    "base answer-in": "(base)",
    "all-gold": "all-gold",
    "base all-gold": "(base)",
    "gold-share": "gold",
    "base gold-share": "(base)",
}
_MEANS = ("cited", "replans", "ms")


def offline_table(jobs: Sequence[OfflineJob], table: RouteTable) -> Iterator[str]:
    """The lines of the table: all jobs, then those of each kind of question.

    The confidences are those that `table` calibrates.
    """
    tallies: dict[str, OfflineTally] = defaultdict(OfflineTally)
    for job in jobs:
        for name in ("all", job.question.kind):
            tallies[name].add(job)
    yield f"{'':17}" + " ".join(f"{title:>9}" for title in (*_SHARES.values(), *_MEANS))
    for name in sorted(tallies):
        yield tallies[name].line(name)
    yield from extraction_calibration(jobs)
    yield from confidence_lines(confidence_figures(rated_answers(jobs, table)))


def rated_answers(jobs: Sequence[OfflineJob], table: RouteTable) -> list[RatedAnswer]:
    """The answers with their confidences."""
    return [rated for job in jobs if (rated := job.rated(table)) is not None]


@dataclass
class OfflineTally:
    """Sums over questions."""

    sums: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    count: int = 0

    def add(self, job: OfflineJob) -> None:
        """Count one finished question."""
        cited = job.passages_cited
        self.count += 1
        self.sums["EM"] += is_exact_match(job.answer, job.question.answers)
        self.sums["F1"] += best_f1(job.answer, job.question.answers)
        self.sums["answered"] += bool(job.answer)
        self._add_citations("", job, cited)
        self._add_citations("base ", job, job.corpus.search(job.question.text)[: len(cited)])
        self.sums["cited"] += len(cited)
        self.sums["replans"] += job.replans
        self.sums["ms"] += 1000 * job.seconds

    def _add_citations(self, label: str, job: OfflineJob, cited: Sequence[int]) -> None:
        paragraphs = [job.question.paragraphs[at] for at in cited]
        gold, addresses = job.question.gold, {each.address for each in paragraphs}
        texts = (f"{each.title} {each.text}" for each in paragraphs)
        self.sums[f"{label}answer-in"] += is_in_passages(job.question.answers, texts)
        self.sums[f"{label}all-gold"] += gold <= addresses
        self.sums[f"{label}gold-share"] += len(gold & addresses) / max(len(gold), 1)

    def line(self, name: str) -> str:
        """One row of the table."""
        count = self.count or 1
        cells = [f"{100 * self.sums[share] / count:6.1f}" for share in _SHARES]
        cells += [f"{self.sums[mean] / count:6.2f}" for mean in _MEANS]
        return f"{name:12}{self.count:4} " + " ".join(f"{cell:>9}" for cell in cells)


def extraction_calibration(jobs: Sequence[OfflineJob]) -> Iterator[str]:
    """How many extracted values are right, by their confidence."""
    buckets: dict[tuple[bool, float], list[bool]] = defaultdict(list)
    for job in jobs:
        for check in job.checks:
            low = math.floor(check.confidence * 10 + 1e-9) / 10
            buckets[check.is_passage, low].append(check.is_right)
    for is_passage, name in ((False, "values right  "), (True, "passages right")):
        yield f"{name} by confidence: " + "  ".join(
            f"{low:.1f}: {100 * sum(checks) / len(checks):.0f}% of {len(checks)}"
            for (kind, low), checks in sorted(buckets.items())
            if kind is is_passage
        )
