"""The figures by which the sources are judged as a house: its size, its closets, the ways through it, what a change
costs. Each is a number of which less is better; `house.json` beside this file holds those of the last commit.

"lines" are those that somebody writes. Python that `make generate` writes is counted apart, as "generated lines": it
grows with the rows that it is made from, and nobody keeps it up.
"""

import ast
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from acta.infra.document.client import CALLS, SHAPES
from tests.structure.modules import ROOT, circle, graph, lines, modules
from tests.structure.request_path import Leg, legs

STORED = Path(__file__).with_name("house.json")
PAGE = ROOT / "console"
GENERATED = (CALLS, SHAPES, ROOT / "acta" / "tools" / "path.py")
"""Modules of the product that `make generate` writes."""
SPACE = 10_000

CHANGES = {
    "a built-in tool": r"(?<!:)\bread_file\b",
    "a built-in tool that can be switched off": r"weather",
    "an event type": r"\bContextCompacted\b|context\.compacted",
    "a route with a body": r"\bfork_session\b|/fork\b",
    "an OpenAI-compatible provider": r"\bopenai\b.*\bkey_variable\b|OPENAI_API_KEY",
    "a setting of the turn": r"\bturns_per_step\b",
    "a field of a session that a start sets and the page shows": r"\bnotify_url\b",
}
"""What somebody adds -> a pattern of one that there is. The cost of the change is counted as the product files that
name the one that there is, the page's among them. It is an upper bound: some files only use it.
"""


def figures() -> dict[str, float]:
    """By name. Lines and files are those of the product's Python without empty files and without generated ones."""
    known = modules()
    total = sum(map(lines, written(known).values()))
    found: dict[str, float] = {
        "lines": total,
        "generated lines": sum(map(lines, GENERATED)),
        "files per 10,000 lines": round(len(written(known)) * SPACE / total, 1),
        "public names that stand twice": len(names_twice(known)),
        "circles of imports": int(bool(circle(graph(known)))) + int(bool(circle(page_imports()))),
    }
    walked = legs()
    for name, leg in walked.items():
        found[f"files entered: {name}"] = len(leg.files)
        found[f"folder changes: {name}"] = leg.folder_changes
    found["files entered: from POST to the first Think commit"] = len(to_first_think(walked))
    return found | {f"files that name {change}": count for change, count in change_costs().items()}


def written(known: dict[str, Path]) -> dict[str, Path]:
    """The modules that somebody writes by hand."""
    return {name: path for name, path in known.items() if path not in GENERATED}


def to_first_think(walked: dict[str, Leg]) -> set[Path]:
    return walked["start"].files | walked["plan"].files | walked["think"].files


def worse(now: dict[str, float], stored: dict[str, float]) -> list[str]:
    """A line for each figure that is worse than the stored one, or that nobody has stored yet."""
    return [
        f"{name}: {number:g}, stored {stored.get(name, 0):g}"
        for name, number in now.items()
        if number > stored.get(name, -1)
    ]


def stored() -> dict[str, float]:
    found: dict[str, float] = json.loads(STORED.read_text(encoding="utf-8"))
    return found


def names_twice(known: dict[str, Path]) -> dict[str, list[str]]:
    """Public classes of one name in several modules -> those modules."""
    places = defaultdict(list)
    for module, path in known.items():
        for node in ast.parse(path.read_bytes()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(module)
    return {name: found for name, found in sorted(places.items()) if len(found) > 1}


def lines_by_room(known: dict[str, Path]) -> Counter[str]:
    """Written ones. A room is a folder of the engine, of the installer or of the command line and the client."""
    found: Counter[str] = Counter()
    for module, path in written(known).items():
        found[".".join(module.split(".")[1:3])] += lines(path)
    return found


def page_imports() -> dict[str, set[str]]:
    """The page's modules -> those of its own that they import, not only for types."""
    pattern = re.compile(r"^(?:import|export)(?! type)[^;]*?from \"(\.[^\"]+)\"", re.MULTILINE)
    sources = {path: path.read_text(encoding="utf-8") for path in PAGE.rglob("*.ts*")}

    def resolved(path: Path, name: str) -> Path | None:
        target = (path.parent / name).resolve()
        places = (target.with_name(target.name + end) for end in (".ts", ".tsx"))
        return next(
            (place for place in (*places, target / "index.ts", target / "index.tsx") if place in sources),
            None,
        )

    return {
        str(path): {str(found) for name in pattern.findall(text) if (found := resolved(path, name))}
        for path, text in sources.items()
        if not path.name.endswith(".test.ts")
    }


def change_costs() -> dict[str, int]:
    files = [*modules().values(), *_page_files()]
    texts = [path.read_text(encoding="utf-8") for path in files]
    return {
        change: sum(bool(re.search(pattern, text)) for text in texts) for change, pattern in CHANGES.items()
    }


def _page_files() -> Iterator[Path]:
    for path in sorted(PAGE.rglob("*.ts*")):
        if not path.name.endswith(".test.ts"):
            yield path
