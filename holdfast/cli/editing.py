"""A plan edited by hand: in the editor that the user has, or in a file that the user names."""

import os
import shlex
import subprocess
import tempfile
from pathlib import Path

from holdfast.cli.installation import ask
from holdfast.cli.output import print_text
from holdfast.client import Holdfast
from models.errors import BadInput
from models.plan import Plan
from planning.edited import editable
from storage import jobs, plans

_HEAD = """\
# The plan, as it is to be worked. Tasks that you leave out are dropped, new ids are new tasks.
# task_type is `Tool call`, `Reasoning` or `Agent`; a value of another task is written as
# <JSON_PATH>T1.entity</JSON_PATH>, with T1 among the dependencies. The last task yields exactly
# `final_answer`.
"""


def as_text(plan: Plan) -> str:
    """The plan as a file to edit, in YAML."""
    return _HEAD + editable(plan)


def plan_yaml_command(job_id: str) -> None:
    """Print the plan as a file to edit."""

    async def read(holdfast: Holdfast) -> Plan:
        await jobs.load(holdfast.db, job_id)
        return await plans.load_plan(holdfast.db, job_id)

    print_text(as_text(ask(read)))


def edited_by_hand(text: str) -> str:
    """The text once the user's editor was closed.

    Raises:
        BadInput: there is no editor, or it ended with an error.
    """
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        raise BadInput(
            "no editor is set: set EDITOR, or write the plan into a file and give it with `edit "
            "FILE`; `holdfast plan JOB --yaml` prints what to start from"
        )
    with tempfile.TemporaryDirectory(prefix="holdfast-") as folder:
        file = Path(folder, "plan.yaml")
        file.write_text(text, "utf-8")
        try:
            done = subprocess.run([*shlex.split(editor), str(file)], check=False)  # noqa: S603 - the user's own editor
        except (OSError, ValueError) as error:
            raise BadInput(f"the editor {editor!r} cannot be started: {error}") from error
        if done.returncode:
            raise BadInput(f"the editor {editor!r} ended with exit code {done.returncode}")
        return read_file(file)


def read_file(file: Path) -> str:
    """The text of a plan's file.

    Raises:
        BadInput: it is not there, or no text.
    """
    try:
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"the plan in {str(file)!r} cannot be read: {error}") from error
