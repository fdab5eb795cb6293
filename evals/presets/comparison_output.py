"""Print a comparison as a table for a terminal, and draw the comparison as SVG."""

from collections.abc import Iterator, Mapping, Sequence
from xml.sax.saxutils import escape

from pydantic import JsonValue

from holdfast.evals.measures.confidence_figures import confidence_lines
from holdfast.evals.presets.comparison_summary import PresetFigures, TokenRatio

_COLUMNS: tuple[tuple[str, str, str], ...] = (
    ("exact_match", "exact", "{:.1f}"),
    ("f1", "F1", "{:.1f}"),
    ("answered", "answered", "{:.0f}%"),
    ("f1_of_answered", "F1 of these", "{:.1f}"),
    ("in_report", "in report", "{:.1f}"),
    ("model_calls", "model calls", "{:.1f}"),
    ("tool_calls", "tool calls", "{:.1f}"),
    ("input_tokens", "tokens in", "{:,.0f}"),
    ("output_tokens", "out", "{:,.0f}"),
    ("depth", "depth", "{:.1f}"),
    ("breadth", "breadth", "{:.2f}"),
    ("replans", "replans", "{:.2f}"),
    ("with_repeats", "repeating", "{:.0f}%"),
    ("seconds_median", "s, median", "{:.1f}"),
)
_WIDTH, _BAR, _LABEL, _ROW, _PANEL = 920, 200, 90, 18, 300
_COLOURS = ("#33658a", "#f26419", "#55a630", "#8e5572", "#2f4858", "#f6ae2d", "#86bbd8")


def comparison_fields(
    found: Sequence[PresetFigures], compared: TokenRatio | None
) -> dict[str, JsonValue]:
    """The comparison as JSON: the figures of each arm, and the ratio of tokens if there is one."""
    return {
        "figures": [each.model_dump(mode="json") for each in found],
        "ratio": compared.model_dump(mode="json") if compared else None,
    }


def comparison_table_lines(
    found: Sequence[PresetFigures], compared: TokenRatio | None
) -> Iterator[str]:
    """The table, and below it what does not fit into one."""
    width = max((len(each.preset) for each in found), default=6) + 2
    yield f"{'preset':{width}}{'n':>5}" + "".join(
        f"{name:>{_room(name)}}" for _, name, _ in _COLUMNS
    )
    for each in found:
        cells = (
            f"{form.format(getattr(each, field)):>{_room(name)}}" for field, name, form in _COLUMNS
        )
        yield f"{each.preset:{width}}{each.questions:5}" + "".join(cells)
    if any(each.deviation for each in found):
        yield ""
        yield from _deviations(found, width)
    for each in found:
        yield ""
        yield from _below(each)
    if compared is not None:
        yield ""
        yield _ratio_line(compared)


def _deviations(found: Sequence[PresetFigures], width: int) -> Iterator[str]:
    """Yield the deviations over the repeats under the columns they belong to."""
    yield f"standard deviation over {found[0].repeats} runs"
    for each in found:
        shown = (
            (form.format(each.deviation[field]) if field in each.deviation else "", _room(name))
            for field, name, form in _COLUMNS
        )
        cells = "".join(f"{value:>{room}}" for value, room in shown)
        yield f"{each.preset:{width}}{'':5}{cells}".rstrip()


def _room(name: str) -> int:
    return max(len(name), 6) + 2


def _below(found: PresetFigures) -> Iterator[str]:
    yield f"{found.preset}: ended {_listed(found.reasons)}; verdicts {_listed(found.verdicts)}"
    yield from (f"  {line}" for line in confidence_lines(found.confidence))
    if found.tokens_a_right_answer is not None:
        yield f"  tokens a right answer: {found.tokens_a_right_answer:,.0f}"
    for each in found.bins:
        yield (
            f"  {each.by} {each.value}: {each.runs} runs, exact {each.exact_match:.1f}, "
            f"F1 {each.f1:.1f}, answered {each.answered:.0f}%, {each.tokens:,.0f} tokens"
        )
    yield f"  failures by component: {_listed(found.failures)}"
    yield f"  answered after replans: {_listed(found.answered_after)}"
    for role, spent in found.roles.items():
        yield (
            f"  {role}: {spent.calls:,} calls, {spent.input_tokens:,} tokens in, "
            f"{spent.output_tokens:,} out"
        )


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items() if count) or "none"


def _ratio_line(found: TokenRatio) -> str:
    if found.input_tokens is None:
        return f"{found.of} / {found.to}: the model counted no tokens" + _calls(found)
    out = "no" if found.output_tokens is None else f"{found.output_tokens:.2f} times the"
    return (
        f"{found.of} / {found.to} over {found.questions} questions: {found.input_tokens:.2f} times "
        f"the input tokens, {out} output tokens" + _calls(found)
    )


def _calls(found: TokenRatio) -> str:
    return "" if found.model_calls is None else f", {found.model_calls:.2f} times the model calls"


def comparison_svg(found: Sequence[PresetFigures], title: str) -> str:
    """A panel of bars for each measure, a bar for each preset."""
    shown = (
        "exact_match",
        "f1",
        "in_report",
        "input_tokens",
        "output_tokens",
        "model_calls",
        "tool_calls",
        "replans",
        "seconds_median",
    )
    names = {field: (name, form) for field, name, form in _COLUMNS}
    height_of_panel = 30 + _ROW * len(found)
    panels = [
        _panel(
            found, field, *names[field], _PANEL * (at % 3) + 10, 40 + height_of_panel * (at // 3)
        )
        for at, field in enumerate(shown)
    ]
    height = 50 + height_of_panel * ((len(shown) + 2) // 3)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" '
        'font-family="sans-serif" font-size="11">\n'
        f'<rect width="100%" height="100%" fill="white"/>\n'
        f'<text x="10" y="22" font-size="14">{escape(title)}</text>\n'
        + "".join(panels)
        + "</svg>\n"
    )


def _panel(found: Sequence[PresetFigures], field: str, name: str, form: str, x: int, y: int) -> str:
    values = [float(getattr(each, field)) for each in found]
    most = max(values, default=0.0) or 1.0
    bars = [
        _bar(each.preset, value / most, form.format(value), x, y + 8 + _ROW * at, at)
        for at, (each, value) in enumerate(zip(found, values, strict=True))
    ]
    return f'<text x="{x}" y="{y}" font-weight="bold">{escape(name)}</text>\n' + "".join(bars)


def _bar(label: str, share: float, value: str, x: int, y: int, at: int) -> str:
    width = share * (_BAR - _LABEL)
    end = x + _LABEL + width
    return (
        f'<text x="{x}" y="{y + 11}">{escape(label[:14])}</text>'
        f'<rect x="{x + _LABEL}" y="{y}" width="{width:.1f}" height="{_ROW - 5}" '
        f'fill="{_COLOURS[at % len(_COLOURS)]}"/>'
        f'<text x="{end + 4:.1f}" y="{y + 11}">{escape(value)}</text>\n'
    )
