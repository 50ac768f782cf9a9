"""`python -m acta.infra.packaging.console_page FOLDER`: builds the page for people of `console` there.

`page.html.gz` includes the script and the styles; `hashes.json` has their hashes, which the page's security policy
allows (ADR 103). Every build gives the same bytes.
"""

import base64
import hashlib
import json
import subprocess
import sys
from pathlib import Path

from zopfli import gzip

from acta.infra.toolchain import ROOT as ROOT

WEB = ROOT / "console"
ESBUILD = ROOT / "node_modules" / ".bin" / "esbuild"
OPTIONS = (
    "--bundle", "--minify", "--format=iife", "--target=es2022", "--legal-comments=none",
    "--tsconfig-raw={}", "--jsx=transform", "--jsx-factory=h", "--jsx-fragment=Fragment", "--log-level=warning",
    f"--inject:{WEB / 'elements.ts'}",
)  # fmt: skip
"""Elements are made by `h`, because its calls are shorter than those of the JSX runtime that the types describe."""
SCRIPT, STYLE = "/*SCRIPT*/", "/*STYLE*/"
"""Places in `index.html`."""


def built(entry: str) -> str:
    """The bundle of one entry. Raises CalledProcessError, whose output names file and line."""
    ran = subprocess.run(
        [ESBUILD, WEB / entry, *OPTIONS],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        check=True,
    )
    return ran.stdout.strip()


def hash_of(text: str) -> str:
    """The text's hash in the form that a policy uses. Source: Content Security Policy Level 3, hash-source."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def made() -> dict[str, bytes]:
    script, style = built("main.tsx"), built("styles/all.css")
    page = (WEB / "index.html").read_text(encoding="utf-8").replace(STYLE, style).replace(SCRIPT, script)
    hashes = {
        "script": hash_of(script),
        "style": hash_of(style),
        "page": hashlib.sha256(page.encode()).hexdigest()[:32],
    }
    return {"page.html.gz": gzip.compress(page.encode()), "hashes.json": json.dumps(hashes).encode()}


def main(folder: Path) -> None:
    for name, content in made().items():
        (folder / name).write_bytes(content)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
