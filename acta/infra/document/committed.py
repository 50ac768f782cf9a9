"""`python -m acta.infra.document.committed`: writes the files of this repository that are made from the tables.

With `--check`, as `make check` calls it, none of them is written, and the types of the page for people are checked
against the API's own document. The exit code is 1 if a file is not up to date, or a type does not fit.
"""

import ast
import inspect
import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from acta.engine.untrusted import path, visible
from acta.infra.document import client, reference
from acta.infra.document.openapi import document
from acta.infra.document.schemas import FILES, definition_files

ROOT = Path(__file__).resolve().parents[3]
MADE = "Made by `make generate` from `acta/engine/untrusted/{}`: change that, not this file."
HIDDEN_ON_PAGE = f"""/** {MADE.format("visible.py")} */

/** A hidden character, or first what a word or an emoji needs of them. Lines, tabs and plain spaces are seen. */
export const IN_DATA = /%s|%s/gu;

/** A hidden character, or first what a sentence needs of them. */
export const IN_PROSE = /%s|%s/gu;
"""


def files() -> Mapping[Path, str]:
    """Path -> text of each of these files."""
    return {
        client.CALLS: client.calls(),
        client.SHAPES: client.shapes(),
        ROOT / "acta" / "tools" / "path.py": for_tools(),
        ROOT / "console" / "parts" / "hidden.ts": on_page(),
        ROOT / "docs" / "reference" / "api.md": reference.operations_page(),
        ROOT / "docs" / "reference" / "errors.md": reference.errors_page(),
        ROOT / "docs" / "reference" / "settings.md": reference.settings_page(),
        ROOT / "docs" / "reference" / "tools.md": reference.tools_page(),
        **{FILES / name: text for name, text in definition_files().items()},
    }


def for_tools() -> str:
    """The rules about names of files, for the library that a tool's own Lambda has."""
    values = {
        visible: ("NUMBER_FORMATS", "SHORT_ESCAPES", "BLANK_LETTERS", "IN_DATA"),
        path: ("MAX_PATH_BYTES", "PRIVATE", "ENCODED", "CONTROL", "SPELLED"),
    }
    rules: tuple[Callable[..., object], ...] = (
        *(visible.is_hidden, visible.escape, visible.hidden_in, path.spelled),
        *(path.check_path, path.check_shown_path, path.check_new_path, path.check_folder),
    )
    assigned: dict[str, str] = {}
    for source in map(inspect.getsource, values):
        for line in ast.parse(source).body:
            if isinstance(line, ast.Assign):
                said = ast.get_source_segment(source, line) or ""
                assigned[ast.unparse(line.targets[0])] = " ".join(said.split())
    assigned["IN_DATA"] = f"IN_DATA = {visible.IN_DATA!a}"  # whole: it is put together from others
    constants = "\n".join(assigned[name] for names in values.values() for name in names)
    imported = "import re\nimport unicodedata\n\nfrom acta.tools.call import FileRefused as PathRefused\n"
    made = f'"""{MADE.format("path.py")}"""\n\n# ruff: noqa: E501\n# fmt: off\n{imported}'
    return "\n\n".join([f"{made}\n{constants}\n", *map(inspect.getsource, rules)])


def on_page() -> str:
    """The patterns of hidden characters in the page's language. `C` and `Z` are the categories whose characters
    Python's `isprintable` is false for.
    """
    letters = "".join(sorted(visible.BLANK_LETTERS))
    hidden = rf"(?![\n\t ])[\p{{C}}\p{{Z}}{letters}]"
    written = (
        "".join(
            char if char.isascii() and char.isprintable() else f"\\u{{{ord(char):x}}}" for char in pattern
        )
        for pattern in (visible.IN_DATA, hidden, visible.IN_PROSE, hidden)
    )
    return HIDDEN_ON_PAGE % tuple(written)


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
