"""`python -m acta_infra.document.console_types`: checks the types of the page for people against the API's own
document.

The document's types are made anew where it has changed, in `build/console`; nothing of them is committed.
"""

import json
import subprocess
import sys
from pathlib import Path

from acta_infra.document.openapi import document

ROOT = Path(__file__).resolve().parents[3]
WEB = ROOT / "console"
FOLDER = ROOT / "build" / "console"
TYPES, SOURCE = FOLDER / "document.d.ts", FOLDER / "document.json"
BIN = ROOT / "node_modules" / ".bin"


def make_types() -> None:
    text = json.dumps(document(), sort_keys=True)
    if TYPES.exists() and SOURCE.exists() and SOURCE.read_text(encoding="utf-8") == text:
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    SOURCE.write_text(text, encoding="utf-8")
    subprocess.run(
        [BIN / "openapi-typescript", SOURCE, "--output", TYPES], cwd=ROOT, check=True, capture_output=True
    )


def main() -> int:
    make_types()
    return subprocess.run([BIN / "tsc", "--project", WEB], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
