"""A call to a model or a tool: the key it is known by, and how it looks from outside."""

from datetime import datetime
from decimal import Decimal

from models.base import Frozen
from models.prices import Money, Price


class CallKey(Frozen):
    """What makes a call the same call: never two rows with one key, never two payments for it."""

    job_id: str
    task_id: str = ""
    """Empty for calls of the whole job, such as planning; `replan:T2` for those about a task."""
    attempt: int = 1
    part: str = "1"
    """Which call within the task: `1`, `2` for corrections, `chunk3/1` for a chunk's first."""
    request_hash: str


class Expense(Frozen):
    """What a model call of a job with a cap may cost, told before it leaves."""

    input_tokens: int
    """An estimate."""
    output_tokens: int = 1_000
    """What to expect while the role has answered less than three times in this job; its longest
    answer counts where that is more, and alone from then on."""
    price: Price | None
    """None: it is unknown, and the call may not be made under a cap on money."""
    is_report: bool = False
    """Whether it may use what is kept for the report."""

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
    """None: unknown, or a tool's."""
    reused: int
    """How often the recorded answer was used instead of calling again."""
    sends: int
    error: str | None = None
    is_cut: bool = False
    """Whether a tool's answer was longer than the limit and its end was dropped."""
