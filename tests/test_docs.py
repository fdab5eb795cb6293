"""The documentation says what the code does."""

import re
from pathlib import Path

from holdfast.cli.app import app
from models.strategy import Strategy
from models.views import JobLine, JobView
from planning.presets import presets

ROOT = Path(__file__).parent.parent


def test_every_setting_is_documented_with_its_default() -> None:
    page = (ROOT / "docs/settings.md").read_text()
    rows = dict(re.findall(r"^\| `(\w+)` \| (\S+) \|", page, re.MULTILINE))

    default = Strategy().model_dump(mode="json")

    assert rows == {
        name: value if isinstance(value, str) else str(value).lower()
        for name, value in default.items()
    }


def test_every_command_is_documented() -> None:
    page = (ROOT / "docs/cli.md").read_text()
    names = [
        info.name or info.callback.__name__ for info in app.registered_commands if info.callback
    ]

    assert [name for name in names if f"holdfast {name}" not in page] == []


def test_every_field_of_show_and_list_is_documented() -> None:
    page = (ROOT / "docs/cli.md").read_text()

    missing = [n for n in (*JobView.model_fields, *JobLine.model_fields) if n not in page]

    assert missing == []


def test_every_preset_is_in_the_readme() -> None:
    page = (ROOT / "README.md").read_text()

    assert [name for name in presets() if f"`{name}`" not in page] == []


def test_every_link_of_the_documentation_leads_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    broken = [
        f"{page.name}: {target}"
        for page in pages
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text())
        if not (page.parent / target).exists()
    ]

    assert broken == []
