"""Read and check which models play which roles: `[roles]` and `[presets.NAME.roles]`."""

from collections.abc import Mapping
from pathlib import Path

from holdfast.models.errors import BadConfiguration
from holdfast.models.frozen_model import Frozen
from holdfast.models.wire.role_names import RoleName
from holdfast.planning.strategies.strategy_presets import all_presets
from holdfast.planning.text.nearest_values import nearest_names
from holdfast.tools.holdfast_toml import read_toml

_EXAMPLE = 'extractor = "the-name-of-a-model"'
_ROLES = "roles"


class RoleTables(Frozen):
    """The models of roles that `holdfast.toml` names."""

    installation: Mapping[RoleName, str] = {}
    presets: Mapping[str, Mapping[RoleName, str]] = {}

    def of_preset(self, name: str) -> Mapping[RoleName, str]:
        """Return the models of roles in jobs with this preset."""
        return {**self.installation, **self.presets.get(name, {})}

    @property
    def models(self) -> frozenset[str]:
        """Return the names of all models that play a role."""
        tables = (self.installation, *self.presets.values())
        return frozenset(model for table in tables for model in table.values())


def read_role_tables(path: Path | None) -> RoleTables:
    """Return the models of roles in the file at `path`; none if there is no file.

    Raises:
        BadConfiguration: a role, a preset or a model's name is wrong; the message names it.
    """
    if path is None or not path.exists():
        return RoleTables()
    content = read_toml(path)
    presets = content.get("presets", {})
    if not isinstance(presets, dict):
        raise BadConfiguration(f"{path}: 'presets' must be tables; write [presets.NAME.roles]")
    return RoleTables(
        installation=_roles(path, _ROLES, content.get(_ROLES, {})),
        presets={name: _preset_roles(path, name, entry) for name, entry in presets.items()},
    )


def _preset_roles(path: Path, name: str, entry: object) -> Mapping[RoleName, str]:
    where = f"presets.{name}"
    if name not in all_presets():
        names = ", ".join(sorted(all_presets()))
        raise BadConfiguration(f"{path}: {where}: there is no preset {name!r}; presets: {names}")
    if not isinstance(entry, dict):
        raise BadConfiguration(f"{path}: {where} must be a table; write [{where}.roles]")
    if odd := sorted(entry.keys() - {_ROLES}):
        raise BadConfiguration(
            f"{path}: {where}.{odd[0]} is not a known key; known here: roles, in [{where}.roles]"
        )
    return _roles(path, f"{where}.{_ROLES}", entry.get(_ROLES, {}))


def _roles(path: Path, where: str, table: object) -> Mapping[RoleName, str]:
    if not isinstance(table, dict):
        raise BadConfiguration(f"{path}: {where} must be a table; write [{where}]")
    known = {role.value for role in RoleName}
    for role, model in table.items():
        if role not in known:
            near = nearest_names(role, sorted(known), 1)
            meant = f"; did you mean {near[0]!r}?" if near else ""
            names = ", ".join(sorted(known))
            raise BadConfiguration(f"{path}: {where}: there is no role {role!r}{meant} {names}")
        if not isinstance(model, str) or not model.strip() or any(c.isspace() for c in model):
            raise BadConfiguration(
                f"{path}: {where}.{role} must be the name of a model; write for example {_EXAMPLE}"
            )
    return {RoleName(role): model for role, model in table.items()}
