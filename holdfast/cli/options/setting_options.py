"""Check `--set key=value`."""

from collections.abc import Sequence

from holdfast.models.errors import BadInput


def parse_setting_changes(settings: Sequence[str]) -> dict[str, str]:
    """The settings of `--set key=value` by name, each with its value as text.

    Raises:
        BadInput: a setting is not of that form.
    """
    changes: dict[str, str] = {}
    for setting in settings:
        name, sign, value = setting.partition("=")
        if not sign or not name:
            raise BadInput(f"--set takes key=value, not {setting!r}")
        changes[name.strip()] = value.strip()
    return changes
