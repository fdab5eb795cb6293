"""Count calls and tokens by role, before and after, and print them as a table."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from holdfast.evals.tokens.prompt_parts import PARTS, recorded_parts, summed, tokens
from holdfast.evals.tokens.recorded_requests import RecordedRequest
from holdfast.evals.tokens.todays_prompts import todays_prompt
from holdfast.models.frozen_model import Frozen

_WIDTH = 13


class RoleFigures(Frozen):
    """Calls and characters of one role; `before` is empty if only typed inputs were recorded."""

    role: str
    calls: int
    unmapped: int = 0
    """Calls whose input today's roles do not take; they count neither before nor after."""
    before: Mapping[str, int]
    after: Mapping[str, int]

    @property
    def tokens_before(self) -> int:
        return tokens(sum(self.before.values()))

    @property
    def tokens_after(self) -> int:
        return tokens(sum(self.after.values()))


def role_figures(requests: Iterable[RecordedRequest], rung: str) -> list[RoleFigures]:
    """The figures of each role, in the order in which the roles first appear."""
    by_role: dict[str, list[RecordedRequest]] = defaultdict(list)
    for each in requests:
        by_role[each.role].append(each)
    return [_figures(role, asked, rung) for role, asked in by_role.items()]


def _figures(role: str, requests: Sequence[RecordedRequest], rung: str) -> RoleFigures:
    prompts = [(each, todays_prompt(each, rung)) for each in requests]
    mapped = [(each, prompt) for each, prompt in prompts if prompt is not None]
    return RoleFigures(
        role=role,
        calls=len(mapped),
        unmapped=len(prompts) - len(mapped),
        before=summed([recorded_parts(each) for each, _ in mapped if each.messages]),
        after=summed([prompt.parts for _, prompt in mapped]),
    )


def figure_lines(figures: Sequence[RoleFigures]) -> list[str]:
    """The table: calls, tokens before and after by role, then tokens by part."""
    before = summed([each.before for each in figures])
    after = summed([each.after for each in figures])
    calls = sum(each.calls for each in figures)
    lines = [_row("role", "calls", "before", "after", "share")]
    lines += [
        _count_row(each.role, each.calls, each.tokens_before, each.tokens_after) for each in figures
    ]
    lines.append(_count_row("all", calls, _sum(before), _sum(after)))
    lines += ["", _row("part", "", "before", "after", "share")]
    lines += [_count_row(part, None, tokens(before[part]), tokens(after[part])) for part in PARTS]
    return [*lines, *_unmapped_lines(figures)]


def _unmapped_lines(figures: Sequence[RoleFigures]) -> list[str]:
    return [
        f"{each.unmapped} of the {each.calls + each.unmapped} requests of {each.role} cannot be "
        "mapped to an input of today's roles and are not counted"
        for each in figures
        if each.unmapped
    ]


def _count_row(name: str, calls: int | None, before: int, after: int) -> str:
    share = f"{after / before:.0%}" if before else ""
    return _row(name, "" if calls is None else f"{calls:,}", f"{before:,}", f"{after:,}", share)


def _row(name: str, *cells: str) -> str:
    return f"{name:<18}" + "".join(f"{cell:>{_WIDTH}}" for cell in cells)


def _sum(parts: Counter[str]) -> int:
    return tokens(parts.total())
