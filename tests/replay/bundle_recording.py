"""Record the bundles that `holdfast replay` runs again: `python -m` this module renews them.

Each is a job of the built-in model over the demonstration collection. The built-in model answers a
replay by itself, so another wording of a prompt changes nothing here; what is compared is what
code decides: plans, searches, readings, checks and the report.
"""

import json
import sys
import tempfile
import tomllib
from pathlib import Path

from tests.support.services.command_shell import command_shell

BUNDLES = Path(__file__).parent / "bundles"
RENEW = (
    "a job of tests/replay/bundles claims something else today. If that is meant, renew the "
    "bundles with `make bundles`, look at the reports, and commit them; otherwise mend the change"
)
_DEMO = Path(__file__).parents[2] / "holdfast" / "demo"
_JOBS = {"research": 1, "loop": 2, "vmao": 4}
"""The number of the demonstration's question, by preset."""


def record_bundles(folder: Path) -> None:
    """Run the jobs in a new installation, and write their bundles into the folder.

    Raises:
        RuntimeError: a job did not end with a report.
    """
    questions = tomllib.loads((_DEMO / "questions.toml").read_text("utf-8"))["question"]
    with command_shell() as here:
        for preset, number in _JOBS.items():
            question = questions[number]["question"]
            ran = here.holdfast(
                "run", question, "--docs", str(_DEMO / "collection"), "--collection", "demo",
                "--preset", preset, "--json",
            )  # fmt: skip
            if ran.code:
                raise RuntimeError(f"{preset}: {ran.err}")
            newest = json.loads(here.holdfast("list", "--json").out)[0]["job_id"]
            exported = here.holdfast("export", newest, "-o", str(folder / f"{preset}.crate.zip"))
            if exported.code:
                raise RuntimeError(f"{preset}: {exported.err}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as fresh:
        record_bundles(Path(fresh))
        BUNDLES.mkdir(exist_ok=True)
        for each in sorted(Path(fresh).iterdir()):
            (BUNDLES / each.name).write_bytes(each.read_bytes())
            sys.stdout.write(f"{each.name}: {each.stat().st_size:,} bytes\n")
