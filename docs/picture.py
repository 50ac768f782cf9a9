"""Makes docs/demo.svg, the README's picture: the terminal of a real `make demo`, shortened where three dots stand.

`make picture` runs the demo in a terminal of its own, without any key, and writes what is on its screen at the end.
"""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

import pyte

ROOT = Path(__file__).parents[1]
OUT = ROOT / "docs" / "demo.svg"
COLUMNS, LINES = 104, 200
"""So many lines that nothing scrolls away."""

WIDTH, HEIGHT, FONT, MARGIN, BAR = 8.4, 19, 14, 18, 34
"""Pixels: of a character, of a line, of the font, around the text, of the title bar."""
PAGE, EDGE, TEXT, FAINT = "#161b22", "#3d444d", "#e6edf3", "#8b949e"
COLOURS: Mapping[str, str] = {
    "default": TEXT,
    "black": FAINT,
    "brightblack": FAINT,
    "red": "#f85149",
    "green": "#3fb950",
    "brown": "#d29922",
    "yellow": "#d29922",
    "blue": "#58a6ff",
    "magenta": "#bc8cff",
    "cyan": "#39c5cf",
    "white": TEXT,
}
"""Of a dark terminal; readable on a light page and on a dark one."""
DOTS = "   ⋮"
OF_THE_TRACE, OF_THE_ANSWER = (6, 4), (11, 4)
"""Lines that stay: at the beginning, at the end."""


class Run(NamedTuple):
    """Characters of one line that look the same; `at` is the column of the first."""

    at: int
    text: str
    colour: str
    bold: bool


Line = tuple[Run, ...]


def main() -> int:
    code, output = demo()
    if code:
        print(f"picture: the demo ended with exit code {code}", file=sys.stderr)
        return code
    OUT.write_text(svg(shortened(screen(output))), encoding="utf-8")
    print(f"picture: {OUT.relative_to(ROOT)}")
    return 0


def demo() -> tuple[int, bytes]:
    """Exit code, and all that was written to the terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    process = subprocess.Popen(
        [str(ROOT / ".venv/bin/acta"), "demo"],
        cwd=ROOT, env=plain(os.environ), stdin=theirs, stdout=theirs, stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    output = b"".join(iter(lambda: _read(ours), b""))
    os.close(ours)
    return process.wait(), output


def plain(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment without keys and settings, for a terminal that knows colours."""
    chosen = ("_API_KEY", "_BASE_URL", "NO_COLOR", "COLUMNS", "LINES")
    kept = {
        name: value
        for name, value in environ.items()
        if not name.startswith(("ACTA_", "AWS_")) and not name.endswith(chosen)
    }
    return kept | {"TERM": "xterm-256color", "PYTHONUTF8": "1"}


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # the other end is closed
        return b""


def screen(output: bytes) -> list[Line]:
    """What is on the screen once all of `output` has been written, without the empty lines at its end."""
    shown = pyte.Screen(COLUMNS, LINES)
    pyte.ByteStream(shown).feed(re.sub(rb"\x1b\[([0-9;]*)m", _faint_as_grey, output))
    lines = [_runs(shown.buffer[number]) for number in range(LINES)]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _faint_as_grey(sequence: re.Match[bytes]) -> bytes:
    """pyte knows no faint text."""
    codes = sequence[1].split(b";")
    if b"38" in codes or b"48" in codes:  # a colour by number, in which a 2 means something else
        return sequence[0]
    return b"\x1b[" + b";".join(b"90" if code == b"2" else code for code in codes) + b"m"


def _runs(line: Mapping[int, pyte.screens.Char]) -> Line:
    cells = [line[column] for column in range(COLUMNS)]
    runs, at = [], 0
    for (colour, bold), alike in groupby(cells, lambda cell: (cell.fg, cell.bold)):
        text = "".join(cell.data for cell in alike)
        if text.strip():
            runs.append(Run(at, text, COLOURS.get(colour, f"#{colour}"), bold))
        at += len(text)
    return tuple(runs)


def shortened(lines: Sequence[Line]) -> list[Line]:
    """Of what the agent did, and of its answer, the beginning and the end; the rest as it is."""
    words = ["".join(run.text for run in line).strip() for line in lines]
    did = words.index("What it thought and did")
    answer = did + words[did:].index("")
    return [*lines[:did], *_ends(lines[did:answer], *OF_THE_TRACE), *_ends(lines[answer:], *OF_THE_ANSWER)]


def _ends(part: Sequence[Line], beginning: int, end: int) -> list[Line]:
    if len(part) <= beginning + end + 1:
        return list(part)
    return [*part[:beginning], (Run(0, DOTS, FAINT, False),), *part[-end:]]


def svg(lines: Sequence[Line]) -> str:
    wide, high = round(COLUMNS * WIDTH + 2 * MARGIN), BAR + len(lines) * HEIGHT + 2 * MARGIN
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}" height="{high}" '
            f'role="img" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="{FONT}">',
            "<title>A real run of make demo</title>",
            f'<rect x="0.5" y="0.5" width="{wide - 1}" height="{high - 1}" rx="8" fill="{PAGE}" stroke="{EDGE}"/>',
            f'<path d="M0.5 {BAR}H{wide - 0.5}" stroke="{EDGE}"/>',
            f'<text x="{wide / 2}" y="{BAR - 12}" text-anchor="middle" fill="{FAINT}">make demo</text>',
            *_texts(lines),
            "</svg>",
            "",
        ]
    )


def _texts(lines: Sequence[Line]) -> Iterator[str]:
    """Every run has its place and its length, so that columns stand below one another in any font."""
    for number, line in enumerate(lines):
        y = BAR + MARGIN + number * HEIGHT + FONT
        for at, text, colour, bold in line:
            begin = at + len(text) - len(text.lstrip())
            shown = text.strip()
            weight = ' font-weight="bold"' if bold else ""
            yield (
                f'<text x="{MARGIN + begin * WIDTH:.1f}" y="{y}" textLength="{len(shown) * WIDTH:.1f}" '
                f'lengthAdjust="spacingAndGlyphs" xml:space="preserve" fill="{colour}"{weight}>{escape(shown)}</text>'
            )


if __name__ == "__main__":
    sys.exit(main())
