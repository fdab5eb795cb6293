"""Read the tables `[calibration.MODEL]` of `holdfast.toml`: how far a model's answers are right."""

from collections.abc import Mapping
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from holdfast.models.errors import BadConfiguration
from holdfast.models.evidence.answer_routes import AnswerRoute, RouteTable
from holdfast.planning.reports.answer_calibration import CalibrationTables, built_in_calibration
from holdfast.planning.text.nearest_values import nearest_names
from holdfast.tools.holdfast_toml import read_toml

_TABLE: TypeAdapter[RouteTable] = TypeAdapter(RouteTable)


def read_calibrations(path: Path | None) -> CalibrationTables:
    """Return the calibrations by model: the built-in ones, and those of the file over them.

    Raises:
        BadConfiguration: a table is wrong; the message names it and the right form.
    """
    if path is None or not path.exists():
        return built_in_calibration()
    tables = read_toml(path).get("calibration", {})
    if not isinstance(tables, dict):
        raise BadConfiguration(f"{path}: 'calibration' must be tables; write [calibration.MODEL]")
    return {**built_in_calibration(), **{name: _row(path, name, t) for name, t in tables.items()}}


def _row(path: Path, model: str, table: object) -> RouteTable:
    where = f"{path}: calibration.{model}"
    if not isinstance(table, Mapping):
        raise BadConfiguration(f'{where} must be a table; write [calibration."{model}"]')
    known = [route.value for route in AnswerRoute]
    if odd := [name for name in table if name not in known]:
        near = nearest_names(odd[0], known, 1)
        meant = f"; did you mean {near[0]!r}?" if near else ""
        raise BadConfiguration(
            f"{where}.{odd[0]} is no route{meant}; known here: {', '.join(known)}"
        )
    try:
        return _TABLE.validate_python(table)
    except ValidationError as error:
        route = error.errors()[0]["loc"][0]
        raise BadConfiguration(
            f"{where}.{route} must be a share of right answers from 0 to 1; write for example "
            f"{route} = 0.6"
        ) from None
