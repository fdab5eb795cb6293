"""Read changed settings that a person wrote as NAME=VALUE, after `--set` or in a form."""

from collections.abc import Sequence

from holdfast.models.errors import BadInput


def parse_setting_changes(settings: Sequence[str]) -> dict[str, str]:
    """The settings of `NAME=VALUE` texts by name, each with its value as text.

    Raises:
        BadInput: a setting is not of that form.
    """
    changes: dict[str, str] = {}
    for setting in settings:
        name, sign, value = setting.partition("=")
        if not sign or not name.strip():
            raise BadInput(f"a setting is written as NAME=VALUE, not {setting[:100]!r}")
        changes[name.strip()] = value.strip()
    return changes
