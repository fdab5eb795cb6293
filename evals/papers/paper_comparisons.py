"""What each paper compares: presets, settings, gold programs, and where faults come in."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pydantic import JsonValue

from holdfast.evals.oracle.fault_costs import SETTINGS
from holdfast.evals.oracle.gold_programs import GoldProgram, with_faults
from holdfast.evals.presets.preset_comparison import ArmVariant
from holdfast.models.errors import BadInput


@dataclass(frozen=True)
class PaperTable:
    """One paper's comparison."""

    title: str
    presets: Sequence[str]
    task: str
    """The gold programs that the oracle plays."""
    server: str = ""
    """The name of their MCP server, if an agent of fixed tools is to have it."""
    parts: int = 1
    """How many programs are asked as one question."""
    declares_names: bool = False
    """True if the KoPL tools' server declares the names that it knows, so that robust tools can
    match a wrong one to the nearest."""
    variants: Sequence[ArmVariant] = ()
    settings: Mapping[str, JsonValue] = field(default_factory=dict)
    """The same in all arms, with the oracle."""


_MATCHED = {
    name: value
    for name, value in SETTINGS.items()
    if name not in ("extraction", "confidence_threshold")
}
PAPERS: Mapping[str, PaperTable] = {
    "kpi-chain": PaperTable(
        "KPI-Chain: typed promises against planning without them",
        ("kpi-chain", "full-horizon", "single-step"),
        "fanoutqa",
        settings=_MATCHED,
    ),
    "horizon": PaperTable(
        "Planning horizon: to the end against step by step, by depth and breadth",
        ("full-horizon", "single-step"),
        "kopl-lab",
        declares_names=True,
        variants=(ArmVariant("strict tools", {"robust_tools": False}),),
    ),
    "vmao": PaperTable(
        "VMAO: verified agents against one agent and a fixed pipeline",
        ("vmao", "single-agent", "static-pipeline"),
        "kopl-lab",
        server="web",
        parts=3,
        settings=SETTINGS,
    ),
}
"""TDP's comparison is `holdfast.evals.oracle composite`: it needs two runs."""


def with_fault_rate(
    golds: Sequence[GoldProgram], rate: float, seed: int = 1
) -> tuple[GoldProgram, ...]:
    """The programs, with a name written wrong in each call with this probability.

    Raises:
        BadInput: the rate is no probability.
    """
    if not 0 <= rate <= 1:
        raise BadInput(f"--fault-rate takes a number from 0 to 1, not {rate}")
    dice = random.Random(seed)
    return tuple(
        replace(
            gold,
            wrong=frozenset(
                at for at, step in enumerate(gold.steps) if step.named and dice.random() < rate
            ),
        )
        for gold in with_faults(golds, 0)
    )


def with_server(golds: Sequence[GoldProgram], server: str) -> tuple[GoldProgram, ...]:
    """The programs and their parts, their calls being those of a server of this name."""
    return tuple(
        replace(
            gold,
            steps=tuple(
                replace(step, tool=f"{server}.{step.tool.partition('.')[2]}") for step in gold.steps
            ),
            parts=with_server(gold.parts, server),
        )
        for gold in golds
    )
