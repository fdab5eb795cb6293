"""Fit a calibration: the share of right answers by route, as a table for `holdfast.toml`.

A share is drawn to the share over all answers by two imagined answers, so that a route with few
answers is rated neither 0 nor 1.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from holdfast.evals.measures.confidence_figures import RatedAnswer
from holdfast.models.errors import BadInput
from holdfast.models.evidence.answer_routes import AnswerRoute, RouteTable

_IMAGINED = 2
"""How many imagined answers, right as often as all answers, are added to each route."""

_LEAST_ANSWERS = 5
"""A route with fewer answers has no row: it is rated as all answers are."""


def fit_route_table(rated: Sequence[RatedAnswer]) -> RouteTable:
    """Return the share of right answers by route, rounded to hundredths.

    Raises:
        BadInput: there is no answer to fit the table on.
    """
    if not rated:
        raise BadInput("no answer states a confidence, so there is nothing to calibrate on")
    mean = sum(each.is_right for each in rated) / len(rated)
    groups: dict[AnswerRoute, list[bool]] = defaultdict(list)
    for each in rated:
        if each.route is not None:
            groups[each.route].append(each.is_right)
    shares = {
        route: (sum(group) + _IMAGINED * mean) / (len(group) + _IMAGINED)
        for route, group in sorted(groups.items())
        if len(group) >= _LEAST_ANSWERS
    }
    return {route: round(share, 2) for route, share in {**shares, AnswerRoute.ANY: mean}.items()}


def calibration_lines(model: str, table: RouteTable, rated: Iterable[RatedAnswer]) -> list[str]:
    """The table as TOML, each row with the answers that it was fitted on."""
    answers = list(rated)
    lines = [f'[calibration."{model}"]']
    for route, share in table.items():
        of_route = [each for each in answers if route in (each.route, AnswerRoute.ANY)]
        right = sum(each.is_right for each in of_route)
        lines.append(f"{route.value} = {share:g}  # {right} of {len(of_route)} right")
    return lines
