"""Name the contestants, and open those that a comparison wants."""

from collections.abc import Mapping, Sequence

from holdfast.client import Holdfast
from holdfast.evals.peers.contestants.contestant_interface import Contestant
from holdfast.evals.peers.contestants.holdfast_preset import HoldfastPreset
from holdfast.evals.peers.contestants.peer_program import (
    PROGRAMS,
    PeerProgram,
    check_peers_installed,
)
from holdfast.evals.peers.contestants.single_prompt import SinglePrompt
from holdfast.evals.peers.shared_search import SharedSearch
from holdfast.models.errors import BadInput

SINGLE_PROMPT = "single-prompt"
PRESETS = ("loop", "research", "kpi-chain")
CONTESTANTS = (*PROGRAMS, *PRESETS, SINGLE_PROMPT)


def check_contestants(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names, each once.

    Raises:
        BadInput: there is no such contestant, or it is not installed.
    """
    for name in names:
        if name not in CONTESTANTS:
            raise BadInput(f"there is no contestant {name!r}; there are {', '.join(CONTESTANTS)}")
    if set(names) & set(PROGRAMS):
        check_peers_installed()
    return tuple(dict.fromkeys(names))


def open_contestants(
    names: Sequence[str],
    holdfast: Holdfast,
    search: SharedSearch,
    settings: Mapping[str, Mapping[str, str]],
) -> Mapping[str, Contestant]:
    """Return the contestants by their names; `settings` are changes of presets."""
    return {name: _open(name, holdfast, search, settings.get(name, {})) for name in names}


def _open(
    name: str, holdfast: Holdfast, search: SharedSearch, settings: Mapping[str, str]
) -> Contestant:
    if name in PROGRAMS:
        return PeerProgram(name)
    if name == SINGLE_PROMPT:
        return SinglePrompt(search)
    return HoldfastPreset(holdfast, name, settings)
