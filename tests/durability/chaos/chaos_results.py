"""The results of a run: a line per round, a table at the end, and the same as data."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

from tests.durability.chaos.consistency_checks import Breach, BreachKind
from tests.durability.chaos.disturbances.disturbance_kinds import (
    DisturbanceKind,
    unjudged_checks,
)
from tests.durability.chaos.disturbances.process_kills import KillTarget
from tests.durability.chaos.round_stage import ChaosFinding, ChaosRound

_ALL = "all"
_NOT_JUDGED = "-"


@dataclass
class ChaosResults:
    """All rounds of a run, and what was found wrong with the whole."""

    seed: int
    rounds: list[ChaosRound] = field(default_factory=list)
    installation_breaches: list[Breach] = field(default_factory=list)
    impossible: dict[DisturbanceKind, str] = field(default_factory=dict)
    """The kinds that could not be tried on this machine, and why."""

    @property
    def findings(self) -> list[ChaosFinding]:
        found = [finding for each in self.rounds for finding in each.findings]
        return found + [ChaosFinding(_ALL, breach) for breach in self.installation_breaches]

    @property
    def kills(self) -> Counter[KillTarget]:
        return Counter(target for each in self.rounds for target in each.kills)

    def as_table(self) -> str:
        """One row for each kind of round, one column for each check, in Markdown."""
        head = ["what is done", "rounds", "jobs", "calls", *(kind.value for kind in BreachKind)]
        kinds = [kind for kind in DisturbanceKind if self._of(kind)]
        rows = [head, ["---"] * len(head), *(self._row(kind) for kind in kinds), self._last_row()]
        lines = [f"| {' | '.join(row)} |" for row in rows]
        return "\n".join([*lines, "", *self._notes()])

    def _of(self, kind: DisturbanceKind) -> list[ChaosRound]:
        return [each for each in self.rounds if each.kind is kind]

    def _row(self, kind: DisturbanceKind) -> list[str]:
        rounds = self._of(kind)
        found = Counter(each.breach.kind for this in rounds for each in this.findings)
        unjudged = unjudged_checks(kind)
        cells = [_NOT_JUDGED if each in unjudged else str(found[each]) for each in BreachKind]
        return [kind.value, *_sums(rounds), *cells]

    def _last_row(self) -> list[str]:
        found = Counter(each.breach.kind for each in self.findings)
        return [_ALL, *_sums(self.rounds), *(f"**{found[each]}**" for each in BreachKind)]

    def _notes(self) -> list[str]:
        kills = ", ".join(f"{target} {self.kills[target]}" for target in KillTarget)
        return [
            f"kills: {self.kills.total()} ({kills})",
            f"finished calls reused: {sum(each.reused for each in self.rounds)}",
            f"calls in flight sent again: {sum(each.sent_again for each in self.rounds)}",
            f"seconds beyond undisturbed, after kills alone: {_spread(self._beyond())}",
            *(f"not tried: {kind} ({why})" for kind, why in self.impossible.items()),
        ]

    def _beyond(self) -> list[float]:
        return [each for this in self._of(DisturbanceKind.KILLS) for each in this.extra_s]

    def as_data(self) -> dict[str, object]:
        """The figures for `--json`, with every finding in full."""
        found = Counter(each.breach.kind for each in self.findings)
        return {
            "seed": self.seed,
            "rounds": len(self.rounds),
            "by_kind": {kind.value: self._data_of(kind) for kind in DisturbanceKind},
            "kills": {target.value: self.kills[target] for target in KillTarget},
            "jobs": sum(_job_count(each) for each in self.rounds),
            "calls_answered": sum(each.calls for each in self.rounds),
            "finished_calls_reused": sum(each.reused for each in self.rounds),
            "calls_in_flight_sent_again": sum(each.sent_again for each in self.rounds),
            "breaches": {kind.value: found[kind] for kind in BreachKind},
            "seconds_beyond_undisturbed": sorted(round(s, 3) for s in self._beyond()),
            "findings": [f"{each.job}: {each.breach.what}" for each in self.findings],
        }

    def _data_of(self, kind: DisturbanceKind) -> dict[str, object]:
        rounds = self._of(kind)
        found = Counter(each.breach.kind for this in rounds for each in this.findings)
        return {
            "rounds": len(rounds),
            "jobs": sum(map(_job_count, rounds)),
            "calls_answered": sum(each.calls for each in rounds),
            "breaches": {each.value: found[each] for each in BreachKind},
        }


def round_line(this: ChaosRound) -> str:
    """What a round came to, in one line."""
    shapes = " ".join(each.shape.name for each in this.jobs)
    longest = max(this.extra_s, default=0.0)
    verdict = f"{len(this.findings)} BREACHES" if this.findings else "ok"
    return (
        f"{this.number:>4}  {verdict:<4}  {', '.join(this.actions)}; {shapes}; {this.calls} calls, "
        f"{this.reused} reused, "
        f"{this.sent_again} sent again; {this.took_s:.1f} s, +{longest:.1f} s"
    )


def _sums(rounds: Sequence[ChaosRound]) -> list[str]:
    """How many rounds, jobs and answered calls."""
    jobs = sum(map(_job_count, rounds))
    return [str(len(rounds)), str(jobs), str(sum(each.calls for each in rounds))]


def _job_count(this: ChaosRound) -> int:
    return len(this.jobs) + this.continued


def _spread(seconds: Sequence[float]) -> str:
    if not seconds:
        return "-"
    return f"median {median(seconds):.1f}, max {max(seconds):.1f} ({len(seconds)} jobs)"
