"""Tests which collection the form of a question offers."""

import pytest

from holdfast.api.access.callers import Caller
from holdfast.models.access.access_scopes import Scope
from holdfast.web.ask.offered_collection import offered_collection

MARIA = Caller("maria", "maria", frozenset({Scope.ASK}), "k1")
OPERATOR = Caller("root", "root", frozenset(Scope))


@pytest.mark.parametrize(
    ("caller", "shown", "offered"),
    [
        (MARIA, ["contracts"], "contracts"),
        (MARIA, ["shared/law"], ""),
        (MARIA, ["contracts", "shared/law"], "contracts"),
        (MARIA, ["contracts", "letters"], ""),
        (MARIA, [], ""),
        (OPERATOR, ["harbour", "maria/contracts", "shared/law"], "harbour"),
        (OPERATOR, ["maria/contracts"], ""),
    ],
)
def test_only_the_one_collection_of_its_own_is_offered_to_a_caller(
    caller: Caller, shown: list[str], offered: str
) -> None:
    assert offered_collection(caller, shown) == offered
