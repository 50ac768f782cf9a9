"""`python -m acta_infra.document.committed`: writes the files of this repository that are made from the tables.

With `--check`, as `make check` calls it, none of them is written, and the types of the page for people are checked
against the API's own document. The exit code is 1 if a file is not up to date, or a type does not fit.
"""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from acta_engine.untrusted.visible import BLANK_LETTERS
from acta_infra.document import client, reference
from acta_infra.document.openapi import document
from acta_infra.document.schemas import FILES, definition_files

ROOT = Path(__file__).resolve().parents[3]
MADE = "Made by `make generate` from `shared/acta_engine/untrusted/visible.py`: change that, not this file."
HIDDEN_IN_TOOLS = f'''"""{MADE}"""

# fmt: off
BLANK_LETTERS = frozenset(map(chr, (
%s
)))
'''
HIDDEN_ON_PAGE = f"""/** {MADE} */

/** Characters that are not seen as themselves. Lines, tabs and plain spaces are. */
export const HIDDEN = /(?![\\n\\t ])[\\p{{C}}\\p{{Z}}%s]/gu;
"""
"""`C` and `Z` are the categories whose characters Python's `isprintable` is false for."""


def files() -> Mapping[Path, str]:
    """Path -> text of each of these files."""
    return {
        client.CALLS: client.calls(),
        client.SHAPES: client.shapes(),
        ROOT / "acta" / "tools" / "hidden.py": HIDDEN_IN_TOOLS
        % blank_letters("    *range(0x{:x}, 0x{:x} + 1),\n"),
        ROOT / "console" / "parts" / "hidden.ts": HIDDEN_ON_PAGE % blank_letters(r"\u{{{:x}}}-\u{{{:x}}}"),
        ROOT / "docs" / "reference" / "api.md": reference.operations_page(),
        ROOT / "docs" / "reference" / "errors.md": reference.errors_page(),
        ROOT / "docs" / "reference" / "settings.md": reference.settings_page(),
        **{FILES / name: text for name, text in definition_files().items()},
    }


def blank_letters(written: str) -> str:
    """Runs of the letters that look blank. `written`: how the first and the last of a run are written."""
    numbers = sorted(map(ord, BLANK_LETTERS))
    firsts = [each for each in numbers if each - 1 not in numbers]
    lasts = [each for each in numbers if each + 1 not in numbers]
    return "".join(map(written.format, firsts, lasts)).rstrip("\n")


def write_or_check(made: Mapping[Path, str]) -> int:
    """The exit code of a command that writes these files, or with `--check` only compares them."""
    stale = {
        path: text
        for path, text in made.items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    }
    if "--check" not in sys.argv:
        for path, text in stale.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return 0
    for path in stale:
        print(f"{path.relative_to(ROOT)} is not what it is made from: make generate")
    return int(bool(stale))


def check_page() -> int:
    """The exit code of the type checker over the page for people. If the document has changed, its types are generated
    again in `build/console`; they are not committed.
    """
    folder, tools = ROOT / "build" / "console", ROOT / "node_modules" / ".bin"
    types, source = folder / "document.d.ts", folder / "document.json"
    text = json.dumps(document(), sort_keys=True)
    if not (types.exists() and source.exists() and source.read_text(encoding="utf-8") == text):
        folder.mkdir(parents=True, exist_ok=True)
        source.write_text(text, encoding="utf-8")
        make = [str(tools / "openapi-typescript"), str(source), "--output", str(types)]
        subprocess.run(make, cwd=ROOT, check=True, capture_output=True)
    return subprocess.run([tools / "tsc", "--project", ROOT / "console"], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    code = write_or_check(files())
    sys.exit(code or (check_page() if "--check" in sys.argv else 0))
