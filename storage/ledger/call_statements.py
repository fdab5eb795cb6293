"""SQL statements of the call ledger; each statement is a transaction of its own."""

from typing import LiteralString

from holdfast.storage.core.named_statements import load_statements

_STATEMENTS = load_statements(__file__)

SETTLED: LiteralString = _STATEMENTS["settled"]
"""Part of a statement that also stores the values of `CallLedger.deferred_values`."""

SETTLE: LiteralString = "with " + SETTLED + " select 1"

ON_CONFLICT_MODEL: LiteralString = _STATEMENTS["on_conflict_model"]
RETURNING_MODEL: LiteralString = _STATEMENTS["returning_model"]
REPLACED_MODEL: LiteralString = _STATEMENTS["replaced_model"]
RECOVERED_MODEL: LiteralString = _STATEMENTS["recovered_model"]

RECORDED_MODEL: LiteralString = _STATEMENTS["recorded_model"]
PAUSED_MODEL: LiteralString = _STATEMENTS["paused_model"]
_OPENED_MODEL = (
    ", "
    + PAUSED_MODEL
    + RECORDED_MODEL
    + _STATEMENTS["opened_model"]
    + ON_CONFLICT_MODEL
    + RETURNING_MODEL
    + REPLACED_MODEL
)
_FROM_OPENED_MODEL = _STATEMENTS["from_opened_model"]
OPEN_MODEL: LiteralString = "with " + SETTLED + _OPENED_MODEL + _FROM_OPENED_MODEL
OPEN_MODEL_RECOVERED: LiteralString = (
    "with " + SETTLED + _OPENED_MODEL + RECOVERED_MODEL + _FROM_OPENED_MODEL
)

_OPENED_TOOL = _STATEMENTS["opened_tool"]
_FROM_OPENED_TOOL = _STATEMENTS["from_opened_tool"]
OPEN_TOOL: LiteralString = "with " + _OPENED_TOOL + _FROM_OPENED_TOOL
OPEN_TOOL_RECOVERED: LiteralString = (
    "with " + _OPENED_TOOL + _STATEMENTS["recovered_tool"] + _FROM_OPENED_TOOL
)

FIRST_REQUEST: LiteralString = _STATEMENTS["first_request"]
RECORD_RESPONSE: LiteralString = _STATEMENTS["record_response"]
NOTE_RECEIVED: LiteralString = _STATEMENTS["note_received"]
FAIL_TOOL: LiteralString = _STATEMENTS["fail_tool"]
CUT_MODEL: LiteralString = _STATEMENTS["cut_model"]
FAIL_MODEL: LiteralString = _STATEMENTS["fail_model"]
FAILING_SECONDS: LiteralString = _STATEMENTS["failing_seconds"]
STAND_IN_MODELS: LiteralString = _STATEMENTS["stand_in_models"]
WITHHOLD_MODEL: LiteralString = _STATEMENTS["withhold_model"]
WITHHOLD_TOOL: LiteralString = _STATEMENTS["withhold_tool"]
