"""Implement `holdfast quotas`."""

from decimal import Decimal, InvalidOperation

from holdfast.access.quotas import set_quota
from holdfast.cli.installation_access import run_with_client
from holdfast.cli.render.plain_table import plain_table
from holdfast.cli.render.terminal_output import console, print_json, print_text
from holdfast.jobs.current_user import current_user
from holdfast.models.access.quotas import Quota, QuotaHolder, QuotaLimits
from holdfast.models.errors import BadInput
from holdfast.storage.access.quota_rows import load_quotas, remove_quota


def set_quota_command(
    owner: str | None,
    key: str | None,
    calls: int | None,
    tokens: int | None,
    cost: str | None,
    *,
    json_output: bool,
) -> None:
    """Set a quota and print it."""
    kind, subject = _holder(owner, key)
    limits = QuotaLimits(calls=calls, tokens=tokens, cost=_money(cost))
    quota = run_with_client(
        lambda holdfast: set_quota(holdfast.db, kind, subject, limits, by=current_user())
    )
    _print([quota], json_output=json_output)


def list_quotas_command(*, json_output: bool) -> None:
    """Print the quotas."""
    _print(run_with_client(lambda holdfast: load_quotas(holdfast.db)), json_output=json_output)


def remove_quota_command(owner: str | None, key: str | None, *, json_output: bool) -> None:
    """Remove a quota."""
    kind, subject = _holder(owner, key)
    run_with_client(lambda holdfast: remove_quota(holdfast.db, kind, subject, current_user()))
    if json_output:
        print_json({"kind": kind.value, "subject": subject})
    else:
        print_text(f"{kind.value} {subject} has no quota now")


def _holder(owner: str | None, key: str | None) -> tuple[QuotaHolder, str]:
    if (owner is None) == (key is None):
        raise BadInput("name either `--owner NAME` or `--key ID`")
    return (QuotaHolder.OWNER, owner) if owner is not None else (QuotaHolder.KEY, key or "")


def _money(cost: str | None) -> Decimal | None:
    if cost is None:
        return None
    try:
        amount = Decimal(cost)
    except InvalidOperation:
        amount = Decimal(-1)
    if not amount.is_finite() or amount < 0:
        raise BadInput(f"a cost is a number such as 2.50, not {cost[:40]!r}")
    return amount


def _print(quotas: list[Quota], *, json_output: bool) -> None:
    if json_output:
        print_json(quotas)
        return
    rows = [
        (
            f"{each.kind.value} {each.subject}",
            _share(each.used_calls, each.calls),
            _share(each.used_tokens, each.tokens),
            _share(each.used_cost, each.cost),
            each.set_by,
        )
        for each in quotas
    ]
    columns = ("quota", "calls today", "tokens today", "cost today", "set by")
    console().print(plain_table(columns, rows))


def _share(used: int | Decimal, most: int | Decimal | None) -> str:
    return f"{used:,}" if most is None else f"{used:,} of {most:,}"
