"""Edit a plan in the user's editor, or read a plan from a file."""

import os
import shlex
import subprocess
import tempfile
from pathlib import Path

from holdfast.models.errors import BadInput
from holdfast.models.plans.research_plan import Plan
from holdfast.planning.plans.plan_edits import plan_as_yaml

_YAML_HEADER = """\
# The plan to run. Tasks that you leave out are dropped, new ids are new tasks.
# task_type is `Tool call`, `Reasoning` or `Agent`; a value of another task is written as
# <JSON_PATH>T1.entity</JSON_PATH>, with T1 among the dependencies. The last task yields exactly
# `final_answer`.
"""


def plan_to_yaml(plan: Plan) -> str:
    """The plan as a file to edit, in YAML."""
    return _YAML_HEADER + plan_as_yaml(plan)


def edit_in_editor(text: str) -> str:
    """The text after the user has edited it and closed the editor.

    Raises:
        BadInput: there is no editor, or it ended with an error.
    """
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        raise BadInput(
            "no editor is set: set EDITOR, or write the plan into a file and give it with `edit "
            "FILE`; `holdfast plan JOB --yaml` prints the current plan"
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
        return read_plan_file(file)


def read_plan_file(file: Path) -> str:
    """The text of a plan's file.

    Raises:
        BadInput: the file does not exist, or is not text.
    """
    try:
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"the plan in {str(file)!r} cannot be read: {error}") from error
