"""Define the key of a recorded call, the reservation for a call, and the view of a call."""

from datetime import datetime
from decimal import Decimal

from holdfast.models.budget.token_prices import Money, Price
from holdfast.models.frozen_model import Frozen


class CallKey(Frozen):
    """The key that identifies a call: one row and one payment for each key."""

    job_id: str
    task_id: str = ""
    """Empty for calls of the whole job, such as planning; `replan:T2` for a replan of T2."""
    attempt: int = 1
    part: str = "1"
    """The call within the task: `1`, `2` for a correction, `chunk3/1` for a chunk's first call."""
    request_hash: str


class ReservationRequest(Frozen):
    """The amounts that the budget reserves for a model call before the call is sent."""

    input_tokens: int
    """An estimate."""
    output_tokens: int = 1_000
    """What to expect while the role has answered less than three times in this job; its longest
    answer counts where that is more, and alone from then on."""
    longest_output_tokens: int = 8_000
    """The longest answer that the model may give. A call is sent next to others only if the cap has
    room for an answer of this length to each of them. A role that has answered three times counts
    with three times its longest answer more than expected, if that is less."""
    price: Price | None
    """None if the price is unknown; then a cap on money refuses the call."""
    is_report: bool = False
    """True if the call may use the share that is kept for the report."""

    @property
    def input_cost(self) -> Decimal | None:
        if self.price is None:
            return None
        return self.price.of(input_tokens=self.input_tokens, output_tokens=0)

    @property
    def output_price(self) -> Decimal | None:
        """Of one token."""
        return None if self.price is None else self.price.of(input_tokens=0, output_tokens=1)


class CallView(Frozen):
    """One row of `holdfast calls`; `kind` is model or tool, `role` is empty for tools."""

    id: int
    """The number by which `holdfast trace` names the call; model and tool calls count apart."""
    kind: str
    role: str
    task: str
    name: str
    request_hash: str
    status: str
    started_at: datetime
    finished_at: datetime | None
    tokens: dict[str, int]
    cost: Money | None = None
    """None if unknown, and for tools."""
    reused: int
    """The number of times the recorded answer replaced a new call."""
    sends: int
    is_repeated: bool = False
    """True if an earlier call of the job, or of the job that it was forked from, had the answer."""
    error: str | None = None
    is_cut: bool = False
    """True if the tool's answer was cut at the length limit."""
