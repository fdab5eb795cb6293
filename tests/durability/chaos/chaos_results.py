"""The results of a run: a line per round, a table at the end, and the same as data."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median

from tests.durability.chaos.chaos_rounds import ChaosFinding, ChaosRound
from tests.durability.chaos.consistency_checks import Breach, BreachKind
from tests.durability.chaos.process_kills import KillTarget


@dataclass
class ChaosResults:
    """All rounds of a run, and what was found wrong with the whole."""

    seed: int
    rounds: list[ChaosRound] = field(default_factory=list)
    installation_breaches: list[Breach] = field(default_factory=list)

    @property
    def findings(self) -> list[ChaosFinding]:
        found = [finding for each in self.rounds for finding in each.findings]
        return found + [ChaosFinding("all", breach) for breach in self.installation_breaches]

    @property
    def kills(self) -> Counter[KillTarget]:
        return Counter(target for each in self.rounds for target in each.kills)

    def as_rows(self) -> list[tuple[str, str]]:
        """What the table says, row by row."""
        kills, found = self.kills, Counter(each.breach.kind for each in self.findings)
        shown = ", ".join(f"{target} {kills[target]}" for target in KillTarget)
        return [
            ("rounds", str(len(self.rounds))),
            ("kills", f"{kills.total()} ({shown})"),
            ("jobs", str(sum(len(each.jobs) for each in self.rounds))),
            ("calls answered", str(sum(each.calls for each in self.rounds))),
            ("finished calls reused", str(sum(each.reused for each in self.rounds))),
            ("calls in flight sent again", str(sum(each.sent_again for each in self.rounds))),
            ("announced, never left", str(sum(each.never_left for each in self.rounds))),
            *((kind.value, str(found[kind])) for kind in BreachKind),
            ("seconds beyond undisturbed", _spread(_beyond(self.rounds))),
            *((f"- only {t} killed", _spread(_beyond(_only(t, self.rounds)))) for t in KillTarget),
        ]

    def as_table(self) -> str:
        rows = self.as_rows()
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:<{width}}  {value}" for name, value in rows)

    def as_data(self) -> dict[str, object]:
        """The figures for `--json`, with every finding in full."""
        found = Counter(each.breach.kind for each in self.findings)
        return {
            "seed": self.seed,
            "rounds": len(self.rounds),
            "kills": {target.value: self.kills[target] for target in KillTarget},
            "jobs": sum(len(each.jobs) for each in self.rounds),
            "calls_answered": sum(each.calls for each in self.rounds),
            "finished_calls_reused": sum(each.reused for each in self.rounds),
            "calls_in_flight_sent_again": sum(each.sent_again for each in self.rounds),
            "announced_never_left": sum(each.never_left for each in self.rounds),
            "breaches": {kind.value: found[kind] for kind in BreachKind},
            "seconds_beyond_undisturbed": sorted(round(s, 3) for s in _beyond(self.rounds)),
            "findings": [f"{each.job}: {each.breach.what}" for each in self.findings],
        }


def round_line(this: ChaosRound) -> str:
    """What a round came to, in one line."""
    shapes = " ".join(each.shape.name for each in this.jobs)
    kills = " ".join(this.kills)
    longest = max(this.extra_s, default=0.0)
    verdict = f"{len(this.findings)} BREACHES" if this.findings else "ok"
    return (
        f"{this.number:>4}  {verdict:<4}  killed {kills}; {shapes}; {this.calls} calls, "
        f"{this.reused} reused, "
        f"{this.sent_again} sent again; {this.took_s:.1f} s, +{longest:.1f} s"
    )


def _only(target: KillTarget, rounds: Iterable[ChaosRound]) -> list[ChaosRound]:
    return [each for each in rounds if set(each.kills) == {target}]


def _beyond(rounds: Iterable[ChaosRound]) -> list[float]:
    return [seconds for each in rounds for seconds in each.extra_s]


def _spread(seconds: Sequence[float]) -> str:
    if not seconds:
        return "-"
    return f"median {median(seconds):.1f}, max {max(seconds):.1f} ({len(seconds)} jobs)"
