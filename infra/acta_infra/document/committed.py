"""`python -m acta_infra.document.committed`: writes the files of this repository that are made from the tables.

With `--check`, as `make check` calls it, nothing is written. The exit code is 1 where a file is not what is made now.
"""

import sys
from collections.abc import Mapping
from pathlib import Path

from acta_infra.document import client, definition_files, errors, reference, settings_page

ROOT = Path(__file__).resolve().parents[3]


def files() -> Mapping[Path, str]:
    """By its path, the text of each."""
    return {
        client.CALLS: client.calls(),
        client.SHAPES: client.shapes(),
        ROOT / "docs" / "reference" / "api.md": reference.page(),
        ROOT / "docs" / "reference" / "errors.md": errors.page(),
        ROOT / "docs" / "reference" / "settings.md": settings_page.page(),
        **{definition_files.FOLDER / name: text for name, text in definition_files.made().items()},
    }


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


if __name__ == "__main__":
    sys.exit(write_or_check(files()))
