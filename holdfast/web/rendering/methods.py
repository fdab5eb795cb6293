"""Name the ways to work in words for a reader; the command line calls them presets."""

from collections.abc import Mapping
from typing import NamedTuple

from holdfast.planning.strategies.strategy_presets import all_presets


class Method(NamedTuple):
    """A preset in words."""

    title: str
    explanation: str


_METHODS: Mapping[str, Method] = {
    "research": Method(
        "Thorough",
        "Answers what one search can, plans the rest, checks the results and fills gaps.",
    ),
    "loop": Method(
        "Quick", "One agent searches and answers, with a checked quote for each sentence."
    ),
    "vmao": Method(
        "Broad", "Several agents take a part of the question each; results are checked in rounds."
    ),
    "kpi-chain": Method(
        "Exact values", "Plans which values are needed, and checks that each is found and quoted."
    ),
    "tdp": Method(
        "Branching", "Sub-questions build on each other; each step is judged before the next."
    ),
    "full-horizon": Method("One plan", "Plans every search at once; plans again only what failed."),
    "single-step": Method(
        "Step by step", "Chooses each search after it has read the result of the last."
    ),
    "single-agent": Method("One agent", "One agent has every tool; for comparison."),
    "static-pipeline": Method(
        "Fixed order", "Documents, web, finance, analysis, synthesis, always so; for comparison."
    ),
}


def method(preset: str) -> Method:
    """The words for a preset; one of the installation's own has its name and its title."""
    known = _METHODS.get(preset)
    if known is not None:
        return known
    own = all_presets().get(preset)
    return Method(preset, f"{own.title}." if own else "")
