"""docs/scale.svg: at how many sessions a day each ceiling breaks, now and before. Shapes say whose it is, so it reads
in black and white.
"""

import math
from collections.abc import Iterator
from xml.sax.saxutils import escape

from infra.scale.ceilings import Ceiling, ceilings, ceilings_before
from infra.scale.page import is_same, short
from infra.scale.workload import SESSIONS, Workload

PAGE, EDGE, TEXT, FAINT = "#161b22", "#3d444d", "#e6edf3", "#9aa4af"
"""As in the other charts: a card of its own, readable on a light page and on a dark one."""
WIDTH, LEFT, RIGHT, TOP, ROW = 940, 400, 880, 96, 24
LEAST, MOST = 10_000, 1_000_000_000


def svg(of: Workload) -> str:
    now, before = ceilings(of), ceilings_before(of)
    gone = [one for one in before if not any(is_same(one, other) for other in now)]
    rows = [*now, *gone]
    height = TOP + ROW * len(rows) + 62
    bottom = TOP + ROW * len(rows)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        'role="img" font-family="-apple-system, Segoe UI, Helvetica, Arial, sans-serif" font-size="12">',
        "<title>Where a deployment breaks</title>",
        f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="8" fill="{PAGE}" stroke="{EDGE}"/>',
        _text(20, 30, "Where a deployment breaks", 'font-size="17" font-weight="bold"'),
        _text(
            20,
            50,
            f"sessions a day whose busiest minute needs all of it; quotas by default, {of.region}",
            "",
            FAINT,
        ),
    ]
    for power in range(int(math.log10(LEAST)), int(math.log10(MOST)) + 1):
        at = 10**power
        dashes = "" if at in SESSIONS else ' stroke-dasharray="2 4"'
        lines.append(f'<path d="M{_x(at):.1f} {TOP - 12}V{bottom}" stroke="{EDGE}"{dashes}/>')
        lines.append(_text(_x(at), TOP - 18, short(at), 'text-anchor="middle"', FAINT))
    for number, one in enumerate(rows):
        lines += _row(one, now, before, TOP + ROW * number + ROW / 2)
    lines += [*_legend(bottom + 36), "</svg>", ""]
    return "\n".join(lines)


def _row(one: Ceiling, now: list[Ceiling], before: list[Ceiling], y: float) -> Iterator[str]:
    yield _text(LEFT - 12, y + 4, one.what, 'text-anchor="end"')
    earlier = next((other for other in before if is_same(one, other)), None)
    is_now = one in now
    if earlier is not None and (not is_now or abs(earlier.sessions / one.sessions - 1) > 0.01):
        if is_now:
            path = f"M{_x(earlier.sessions):.1f} {y}H{_x(one.sessions):.1f}"
            yield f'<path d="{path}" stroke="{FAINT}" stroke-dasharray="3 3"/>'
        yield _mark(one.whose, _x(earlier.sessions), y, PAGE)
    if is_now:
        yield _mark(one.whose, _x(one.sessions), y, TEXT)
        yield _text(_x(one.sessions) + 10, y + 4, short(one.sessions), 'font-size="11"')
    elif earlier is not None:
        yield _text(
            _x(earlier.sessions) + 10, y + 4, f"{short(earlier.sessions)}, no more", 'font-size="11"', FAINT
        )


def _mark(whose: str, x: float, y: float, fill: str) -> str:
    """A circle for the provider's, a square for AWS's, a triangle for Acta's own."""
    style = f'fill="{fill}" stroke="{TEXT}" stroke-width="1.5"'
    if whose == "provider":
        return f'<circle cx="{x:.1f}" cy="{y}" r="5" {style}/>'
    if whose == "AWS":
        return f'<rect x="{x - 4.5:.1f}" y="{y - 4.5}" width="9" height="9" {style}/>'
    return f'<path d="M{x:.1f} {y - 6}L{x + 6:.1f} {y + 5}H{x - 6:.1f}Z" {style}/>'


def _legend(y: float) -> Iterator[str]:
    for place, (whose, words) in enumerate(
        (("provider", "a model provider's quota"), ("AWS", "a quota of AWS"), ("Acta", "Acta's own"))
    ):
        x = 30 + 190 * place
        yield _mark(whose, x, y, TEXT)
        yield _text(x + 12, y + 4, words, "", FAINT)
    yield _mark("AWS", 610, y, PAGE)
    yield _text(622, y + 4, "hollow: before. Made by make scale.", "", FAINT)


def _x(sessions: float) -> float:
    part = math.log(max(LEAST, min(MOST, sessions)) / LEAST) / math.log(MOST / LEAST)
    return LEFT + part * (RIGHT - LEFT)


def _text(x: float, y: float, text: str, more: str = "", colour: str = TEXT) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" {more}>{escape(text)}</text>'
