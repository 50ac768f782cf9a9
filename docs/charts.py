"""Makes the two charts of docs/costs.md, docs/write-units.svg and docs/cost.svg, from the figures in docs/beside.json.

`make picture` draws them anew without any measuring. With a file of `make bench` as its argument (build/bench.json)
the figures are taken from it first: those of its section `beside`, with the day and the commit they were measured at.
"""

import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

ROOT = Path(__file__).parents[1]
FIGURES = ROOT / "docs" / "beside.json"

PAGE, EDGE, TEXT, FAINT = "#161b22", "#3d444d", "#e6edf3", "#9aa4af"
"""As in docs/demo.svg: a card of its own, readable on a light page and on a dark one."""
WIDTH, HEIGHT = 940, 430
TOP, BOTTOM = 92, 76
PANELS = ((58, 282), (516, 740))
"""Pixels from the left: where each panel's axes begin and end. The lines' names stand behind them."""
LINE_OF_TEXT = 15
FIRST_TURN, LAST_TURN = 4, 170
KEPT = ("write_units_by_price", "usd", "turns_done", "ended_by")


class Style(NamedTuple):
    """`dashes`: of the line; empty: none."""

    label: str
    colour: str
    dashes: str
    width: float


STYLES: Mapping[str, Style] = {
    "langgraph": Style("LangGraph", "#f0883e", "", 1.8),
    "langgraph_packed": Style("LangGraph, compressed", "#f0883e", "7 4", 1.8),
    "langgraph_delta": Style("LangGraph, deltas (beta)", "#f0883e", "2 3", 1.8),
    "strands": Style("Strands, S3 messages", "#58a6ff", "", 1.8),
    "strands_snapshots": Style("Strands, S3 snapshots", "#58a6ff", "7 4", 1.8),
    "acta_1": Style("Acta, each turn a state", "#3fb950", "7 4", 2.2),
    "acta_8": Style("Acta, 8 turns a state", "#3fb950", "", 3.2),
    "floor": Style("bare log, the floor", FAINT, "2 3", 1.8),
}
"""In the order in which they are drawn: the last lies on top."""
LEVEL = Style("", TEXT, "1 4", 1.2)
ENDS_EARLY = 80
"""Pixels from the right within which a line's name stands behind the axes, and not at its end."""


class Chart(NamedTuple):
    """`figure`: of a turn; `scale`: what it is multiplied with; `least`, `most`: the powers of ten of the axis' ends.
    `level`: a line across, the same for all, in the axis' units; 0: none.
    """

    file: str
    title: str
    subtitle: str
    figure: str
    scale: float
    least: int
    most: int
    level: float = 0
    level_text: str = ""


class Point(NamedTuple):
    turns: int
    value: float


class Name(NamedTuple):
    """`x`, `y`: where the line ends that it names."""

    x: float
    y: float
    text: str
    style: Style


def main(arguments: Sequence[str]) -> int:
    if arguments:
        taken = chosen(json.loads(Path(arguments[0]).read_text(encoding="utf-8")))
        FIGURES.write_text(json.dumps(taken, indent=1) + "\n", encoding="utf-8")
    figures = json.loads(FIGURES.read_text(encoding="utf-8"))
    for chart in charts(figures):
        (ROOT / "docs" / chart.file).write_text(svg(chart, figures), encoding="utf-8")
        print(f"picture: docs/{chart.file}")
    return 0


def chosen(bench: Mapping[str, Any]) -> dict[str, Any]:
    """What the charts are drawn from, of all that `make bench` wrote. Raises KeyError where it did not measure that."""
    beside = bench["beside"]
    return {
        "made": beside["made"],
        "prices_read_on": beside["prices"]["read_on"],
        "waiting_usd": next(iter(beside["contenders"]["floor"]["2KB"].values()))["usd_waiting_for_the_model"],
        "versions": beside["versions"],
        "settings": beside["settings"],
        "contenders": {
            name: {
                size: {turns: {key: row[key] for key in KEPT if key in row} for turns, row in runs.items()}
                for size, runs in by_size.items()
            }
            for name, by_size in beside["contenders"].items()
        },
    }


def charts(figures: Mapping[str, Any]) -> tuple[Chart, Chart]:
    return (
        Chart(
            "write-units.svg", "What a turn writes",
            "DynamoDB write units a turn, an S3 put as the 8 that it costs; mean of a session of so many turns",
            "write_units_by_price", 1, 0, 3,
        ),
        Chart(
            "cost.svg", "What a turn costs, without the model",
            "USD per 1,000 turns: writes, reads, S3, transitions, invocations; mean of a session of so many turns",
            "usd", 1_000, -3, 0, figures["waiting_usd"] * 1_000, "5 s of waiting, for all",
        ),
    )  # fmt: skip


def svg(chart: Chart, figures: Mapping[str, Any]) -> str:
    sizes = list(figures["contenders"]["floor"])
    made = figures["made"]
    versions = ", ".join(f"{name} {version}" for name, version in sorted(figures["versions"].items()))
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
            'role="img" font-family="-apple-system, Segoe UI, Helvetica, Arial, sans-serif" font-size="12">',
            f"<title>{escape(chart.title)}</title>",
            f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{HEIGHT - 1}" rx="8" fill="{PAGE}" stroke="{EDGE}"/>',
            _text(20, 30, chart.title, TEXT, 'font-size="17" font-weight="bold"'),
            _text(20, 50, chart.subtitle, FAINT),
            *(
                line
                for size, ends in zip(sizes, PANELS, strict=True)
                for line in _panel(chart, figures["contenders"], size, ends)
            ),
            _text(
                20, HEIGHT - 12,
                f"make bench, {made['on']}, {made['commit']}; {versions}; prices of {figures['prices_read_on']}",
                FAINT, 'font-size="11"',
            ),
            "</svg>",
            "",
        ]
    )  # fmt: skip


def _panel(chart: Chart, contenders: Mapping[str, Any], size: str, ends: tuple[int, int]) -> Iterator[str]:
    left, right = ends
    yield _text(left, TOP - 14, f"results of {size[:-2]} KB", TEXT, 'font-weight="bold"')
    yield from _axes(chart, left, right)
    names: list[Name] = []
    for name, style in STYLES.items():
        runs = contenders.get(name, {}).get(size)
        if not runs:
            continue
        points = [Point(row["turns_done"], row[chart.figure] * chart.scale) for row in runs.values()]
        places = [(_x(point.turns, left, right), _y(point.value, chart)) for point in points]
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        dashes = f' stroke-dasharray="{style.dashes}"' if style.dashes else ""
        yield f'<path d="{path}" fill="none" stroke="{style.colour}" stroke-width="{style.width}"{dashes}/>'
        yield from (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.6" fill="{style.colour}"/>' for x, y in places)
        x, y = places[-1]
        named = f"{style.label} {_number(points[-1].value)}"
        if list(runs.values())[-1].get("ended_by"):
            yield _text(x, y + 5, "✕", style.colour, 'font-size="15" font-weight="bold" text-anchor="middle"')
            named = f"{style.label}, ends at turn {points[-1].turns}"
        if x < right - ENDS_EARLY:
            yield _text(x + 9, y - 6, named, style.colour)
        else:
            names.append(Name(x, y, named, style))
    if chart.level:
        y = _y(chart.level, chart)
        yield f'<path d="M{left} {y:.1f}H{right}" stroke="{TEXT}" stroke-width="1.2" stroke-dasharray="1 4"/>'
        names.append(Name(right, y, f"{chart.level_text} {_number(chart.level)}", LEVEL))
    yield from _names(names, right)


def _names(names: Sequence[Name], right: int) -> Iterator[str]:
    """Beside the lines' ends, moved apart where they would lie on each other; a thin line leads to each."""
    ordered = sorted(names, key=lambda name: name.y)
    heights = _apart([name.y for name in ordered])
    for (x, y, text, style), at in zip(ordered, heights, strict=True):
        yield f'<path d="M{x:.1f} {y:.1f}L{right + 4} {at:.1f}" stroke="{style.colour}" stroke-width="0.7"/>'
        bold = 'font-weight="bold"' if style.label.startswith("Acta") else ""
        yield _text(right + 8, at + 4, text, style.colour, bold)


def _apart(wanted: Sequence[float]) -> list[float]:
    """The nearest places, from the top, a line of text apart and above the axis."""
    found: list[float] = []
    for y in wanted:
        found.append(max(y, found[-1] + LINE_OF_TEXT) if found else y)
    over = max(0.0, found[-1] - (HEIGHT - BOTTOM)) if found else 0.0
    for index in reversed(range(len(found))):
        limit = found[index + 1] - LINE_OF_TEXT if index + 1 < len(found) else found[index] - over
        found[index] = min(found[index], limit)
    return found


def _axes(chart: Chart, left: int, right: int) -> Iterator[str]:
    for power in range(chart.least, chart.most + 1):
        y = _y(10.0**power, chart)
        yield f'<path d="M{left} {y:.1f}H{right}" stroke="{EDGE}" stroke-width="0.8"/>'
        yield _text(left - 6, y + 4, _number(10.0**power), FAINT, 'text-anchor="end"')
    floor = _y(10.0**chart.least, chart)
    for turns in (5, 20, 100):
        x = _x(turns, left, right)
        yield f'<path d="M{x:.1f} {floor:.1f}v5" stroke="{EDGE}"/>'
        yield _text(x, floor + 19, str(turns), FAINT, 'text-anchor="middle"')
    yield _text((left + right) / 2, floor + 34, "turns of the session", FAINT, 'text-anchor="middle"')


def _x(turns: float, left: int, right: int) -> float:
    share = math.log(turns / FIRST_TURN) / math.log(LAST_TURN / FIRST_TURN)
    return left + share * (right - left)


def _y(value: float, chart: Chart) -> float:
    share = (math.log10(value) - chart.least) / (chart.most - chart.least)
    return HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP)


def _number(value: float) -> str:
    """Two digits that count: 0.0023 · 0.11 · 5.6 · 288."""
    if value >= 10:
        return f"{value:,.0f}"
    return f"{value:.{max(0, 1 - math.floor(math.log10(value)))}f}".rstrip("0").rstrip(".")


def _text(x: float, y: float, text: str, colour: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}"{f" {more}" if more else ""}>{escape(text)}</text>'


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
