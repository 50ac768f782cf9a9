"""The Python tools of the deployed stack: the examples, for one tenant, so that no other test sees them."""

import shutil
from pathlib import Path

from infra.packaging.bundle import ROOT

TENANT = "shop"
EXAMPLES = ROOT / "examples" / "tools"
PLACE = ROOT / "build" / "e2e-tools"
FILE = f'tenants = ["{TENANT}"]\n'


def tools_dir() -> Path:
    """A copy of the examples as they are now, always in one place. Two processes may make it at a time."""
    for source in sorted(EXAMPLES.rglob("*")):
        copy = PLACE / source.relative_to(EXAMPLES)
        if source.is_dir() or "__pycache__" in source.parts:
            continue
        said = source.read_bytes()
        if source.name == "tool.toml":
            said = said.replace(b'tenants = ["*"]\n', FILE.encode())
        if not copy.is_file() or copy.read_bytes() != said:
            copy.parent.mkdir(parents=True, exist_ok=True)
            draft = copy.with_name(f".{copy.name}")
            draft.write_bytes(said)
            draft.replace(copy)
    for copy in sorted(PLACE.rglob("*"), reverse=True):
        if not (EXAMPLES / copy.relative_to(PLACE)).exists():
            shutil.rmtree(copy) if copy.is_dir() else copy.unlink(missing_ok=True)
    return PLACE
