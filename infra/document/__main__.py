"""`python -m infra.document FOLDER`: writes the document and its page there, compressed; the same bytes each time."""

import gzip
import json
import sys
from pathlib import Path

from functions.fallback.document import DOCUMENT
from infra.document.openapi import document
from infra.document.page import page


def made() -> dict[str, bytes]:
    text = json.dumps(document(), ensure_ascii=False, separators=(",", ":"))
    return {DOCUMENT: text.encode(), **page()}


def main(folder: Path) -> None:
    for name, content in made().items():
        (folder / f"{name}.gz").write_bytes(gzip.compress(content, mtime=0))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
