"""Calibrate the confidence of an answer: never above the share of right answers of its route.

A table is fitted on labelled questions (`holdfast eval --calibrate`). The built-in model has one in
`calibration.toml`; other models have those of `holdfast.toml`.
"""

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files

from pydantic import TypeAdapter

from holdfast.models.evidence.answer_routes import AnswerRoute, RouteTable
from holdfast.models.evidence.evidence import Report

CalibrationTables = Mapping[str, RouteTable]
"""The tables by model."""
_TABLES: TypeAdapter[CalibrationTables] = TypeAdapter(CalibrationTables)


@lru_cache
def built_in_calibration() -> CalibrationTables:
    """Return the tables that come with Holdfast."""
    file = files("holdfast.planning.reports").joinpath("calibration.toml")
    return _TABLES.validate_python(tomllib.loads(file.read_text("utf-8")))


def calibrated_confidence(confidence: float, route: AnswerRoute, table: RouteTable) -> float:
    """Return the confidence, at most the route's share; unchanged by an empty table."""
    most = table.get(route, table.get(AnswerRoute.ANY, 1.0))
    return round(min(confidence, most), 3)


def calibrated_report(report: Report, route: AnswerRoute, table: RouteTable) -> Report:
    """Return the report with the calibrated confidence of its answer and its conclusions."""
    if report.answer is None:
        return report
    sure = report.confidence
    if sure is not None:
        sure = calibrated_confidence(sure, route, table)
    conclusions = tuple(
        each
        if sure is None or each.confidence is None
        else each.model_copy(update={"confidence": min(sure, each.confidence)})
        for each in report.conclusions
    )
    changed = {"confidence": sure, "conclusions": conclusions, "route": route}
    return report.model_copy(update=changed)
