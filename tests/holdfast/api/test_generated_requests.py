"""Test that requests which schemathesis makes from `/openapi.json` are answered as it says.

The description that schemathesis reads names what the tested installation has: jobs, questions,
keys. So most requests reach what a route does, and not only its refusal of an unknown id.
`make fuzz` sends requests for a long time: `--fuzz-seconds`.
"""

import asyncio
import json
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from holdfast.api import http_server
from holdfast.api.access.request_rates import RequestRates
from holdfast.api.application import build_application
from tests.support.endpoints.scripted_roles import ScriptedRoles, extractor_script
from tests.support.jobs.plan_builders import final_task, lookup_task, plan
from tests.support.jobs.running_engine import RunningEngine
from tests.support.services.described_installation import fill, with_known_values
from tests.support.services.http_service import HttpService
from tests.support.tools.scripted_tools import ScriptedTools

pytestmark = pytest.mark.slow

# A request that keeps to the schema may still be refused, as a job that has ended cannot be paused.
LEFT_OUT = "positive_data_acceptance,ensure_resource_availability"
# One never ends by itself, two wait for a job, and these ask every part of the machine each time.
NOT_ASKED = {
    ("get", "/v1/jobs/{job}/events"),
    ("get", "/v1/jobs/{job}/wait"),
    ("post", "/v1/responses"),
    ("get", "/v1/doctor"),
    ("get", "/v1/tools"),
    ("get", "/v1/agents"),
    ("post", "/v1/configured-models/check"),
}
UNMET = {
    "POST /v1/jobs/{job}/otel",  # needs a collector
    "POST /v1/bundles",  # schemathesis makes no bundle
    "POST /v1/bundles/check",
    "POST /v1/codec/encode",  # the payloads are not encrypted here
    "POST /v1/codec/decode",
    "POST /v1/jobs/{job}/partial-report",  # the cancelled jobs have found nothing
}
"""Routes that carry out nothing that schemathesis asks here."""

LONG_RUN = "[phases.coverage]\nunexpected-methods = []\n"
SHORT = f"""{LONG_RUN}
[phases.coverage.generation]
mode = "positive"
"""


@dataclass(frozen=True)
class Answers:
    """How many requests each operation answered with which status."""

    statuses: Mapping[str, Counter[int]]

    @classmethod
    def of(cls, report: Path) -> "Answers":
        statuses: defaultdict[str, Counter[int]] = defaultdict(Counter)
        for line in report.read_text().splitlines():
            scenario = json.loads(line).get("ScenarioFinished")
            for each in scenario["recorder"].get("interactions", {}).values() if scenario else ():
                if each.get("response"):
                    statuses[scenario["recorder"]["label"]][each["response"]["status_code"]] += 1
        return cls(statuses)

    def __str__(self) -> str:
        all_statuses: Counter[int] = sum(self.statuses.values(), Counter[int]())
        requests = all_statuses.total()
        shares = ", ".join(
            f"{status}: {count / requests:.1%}" for status, count in sorted(all_statuses.items())
        )
        return (
            f"{requests:,} requests to {len(self.statuses)} operations, of which "
            f"{len(self.carried_out)} carried out some; by status {shares}"
        )

    @property
    def carried_out(self) -> set[str]:
        """The operations that answered a request with success."""
        return {name for name, counts in self.statuses.items() if min(counts) < 300}


async def run_schemathesis(
    serving: HttpService, description: Mapping[str, Any], folder: Path, options: Sequence[str]
) -> tuple[subprocess.CompletedProcess[str], Answers]:
    described, report = folder / "openapi.json", folder / "report.ndjson"
    described.write_text(json.dumps(description))
    words = ["run", str(described), "--url", serving.url, *options]
    words += ["-H", f"Authorization: Bearer {serving.token}"]
    words += ["--exclude-checks", LEFT_OUT, "--continue-on-failure", "--no-color"]
    words += ["--request-timeout", "120"]
    words += ["--report", "ndjson", "--report-ndjson-path", str(report)]
    command = [sys.executable, "-m", "schemathesis.cli", *words]
    done = await asyncio.to_thread(
        subprocess.run, command, capture_output=True, text=True, cwd=folder
    )
    assert report.exists(), done.stdout + done.stderr
    return done, Answers.of(report)


@pytest.mark.conformance("API-01")
@pytest.mark.timeout(900)
async def test_requests_made_from_the_description_are_answered_as_described(
    engine: RunningEngine,
    players: ScriptedRoles,
    tools: ScriptedTools,
    tmp_path: Path,
    pytestconfig: pytest.Config,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    tools.answers = lambda argument: f"found {argument}"
    players.parts["extractor"] = extractor_script("found", 0.9)
    players.plan = plan(lookup_task("T1", query="pier"), final_task("T2", "T1"))
    seconds = pytestconfig.getoption("--fuzz-seconds")
    if seconds is None:
        # Values at random, made from one seed, would be the same in each run of the tests.
        options = ["--phases", "examples,coverage", "--generation-deterministic"]
        config = SHORT
    else:
        options = ["--phases", "examples,coverage,fuzzing", "--max-time", str(seconds)]
        options += ["--generation-database", "none"]
        config = LONG_RUN
    (tmp_path / "schemathesis.toml").write_text(config)
    monkeypatch.setattr(http_server, "RequestRates", partial(RequestRates, limit=10**6))

    settings = engine.holdfast.settings.model_copy(
        update={"model": "scripted", "preset": "kpi-chain"}
    )

    with HttpService(replace(engine.holdfast, settings=settings), writes=True) as serving:
        known = await fill(engine, serving)
        description = build_application(None, None).openapi()  # type: ignore[arg-type]  # serves nothing
        for method, path in NOT_ASKED:
            del description["paths"][path][method]
        described = with_known_values(description, known)
        done, answers = await run_schemathesis(serving, described, tmp_path, options)

    assert done.returncode == 0, done.stdout[-12000:] + done.stderr[-2000:]
    if seconds is not None:
        # How far a run of so many seconds comes depends on the machine.
        with capsys.disabled():
            sys.stdout.write(f"\n{answers}\n")
        return
    asked = {
        f"{method.upper()} {path}"
        for path, methods in described["paths"].items()
        for method in methods
    }
    assert asked - answers.carried_out <= UNMET, answers.statuses
