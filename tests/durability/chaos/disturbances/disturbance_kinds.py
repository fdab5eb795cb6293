"""The kinds of rounds: what is done to the installation, how often each is drawn, and which checks
cannot be made after it."""

from collections.abc import Collection, Sequence
from enum import StrEnum
from random import Random

from tests.durability.chaos.consistency_checks import BreachKind


class DisturbanceKind(StrEnum):
    """What is done while the jobs of a round run."""

    KILLS = "SIGKILL of services"
    FREEZES = "SIGSTOP of services, 1 to 8 s"
    CONTROLS = "control operations under kills"
    UNSAFE = "unsafe tools under kills"
    CUTS = "clients killed in submit"
    OUTAGE = "outage longer than limits"
    RESTORE = "backup restored"
    DISK = "full disk"
    READ_ONLY = "file system turns read-only"
    CLOCK = "clock jumps by an hour"
    UPGRADE = "upgrade, kills"


_DECK = {
    DisturbanceKind.KILLS: 6,
    DisturbanceKind.FREEZES: 3,
    DisturbanceKind.CONTROLS: 3,
    DisturbanceKind.UNSAFE: 2,
    DisturbanceKind.CUTS: 1,
    DisturbanceKind.OUTAGE: 1,
    DisturbanceKind.RESTORE: 1,
    DisturbanceKind.DISK: 1,
    DisturbanceKind.READ_ONLY: 1,
    DisturbanceKind.CLOCK: 1,
    DisturbanceKind.UPGRADE: 1,
}
"""How often each kind comes in any 21 rounds in turn."""

_UNJUDGED = {
    # The tasks of a cancelled job run again, as new attempts with calls of their own.
    DisturbanceKind.CONTROLS: {BreachKind.COUNTS},
    # What was answered after the backup is asked and paid again; followers saw what is gone.
    DisturbanceKind.RESTORE: {BreachKind.ASKED_AGAIN, BreachKind.LEDGER, BreachKind.FOLLOWER},
    # The recorded jobs have no undisturbed run of today, only twins; their calls no arrival times.
    DisturbanceKind.UPGRADE: {
        BreachKind.LEDGER,
        BreachKind.COUNTS,
        BreachKind.LIMIT,
        BreachKind.FOLLOWER,
    },
}


def unjudged_checks(kind: DisturbanceKind) -> Collection[BreachKind]:
    """Return the checks that cannot be made in rounds of this kind."""
    return _UNJUDGED.get(kind, ())


def draw_kind(
    seed: int, number: int, kinds: Sequence[DisturbanceKind] = tuple(DisturbanceKind)
) -> DisturbanceKind:
    """Return the kind of this round: each block of 21 rounds is a shuffled deck."""
    deck = [kind for kind, count in _DECK.items() if kind in kinds for _ in range(count)]
    block, place = divmod(number - 1, len(deck))
    return Random(f"{seed} kinds {block}").sample(deck, k=len(deck))[place]
