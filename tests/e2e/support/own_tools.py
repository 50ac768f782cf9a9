"""The Python tools of the deployed stack: the examples and the tests' own, for one tenant, so that no other test sees
them.
"""

import os
import shutil
from pathlib import Path

from acta.infra.packaging.bundle import ROOT

TENANT = "shop"
SOURCES = (ROOT / "examples" / "tools", ROOT / "tests" / "e2e" / "support" / "tools")
PLACE = ROOT / "build" / "e2e-tools"


def tools_dir() -> Path:
    """A copy of the folders as they are now, always in one place. Two processes may make it at a time."""
    wanted = {
        path.relative_to(source): path
        for source in SOURCES
        for path in source.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    for place, source in wanted.items():
        copy, said = PLACE / place, source.read_bytes()
        if source.name == "tool.toml":
            said = said.replace(b'tenants = ["*"]\n', f'tenants = ["{TENANT}"]\n'.encode())
        if not copy.is_file() or copy.read_bytes() != said:
            copy.parent.mkdir(parents=True, exist_ok=True)
            draft = copy.with_name(f".{copy.name}.{os.getpid()}")
            draft.write_bytes(said)
            draft.replace(copy)
    for folder in PLACE.iterdir():
        if not any(place.parts[0] == folder.name for place in wanted):
            shutil.rmtree(folder, ignore_errors=True)
    return PLACE
