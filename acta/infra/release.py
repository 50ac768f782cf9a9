"""What a release is called: the product's version, and a digest of all that its functions are made of.

Every function has the release's name in its variables. So each release publishes a version of each function, and the
versions of one release can be found (`acta/infra/deployed/releases.py`).
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from acta import __version__
from acta.infra.environments import Environment
from acta.infra.options import AT_ONCE
from acta.infra.tool_folders import DEFAULT_DIR, digest_of
from acta.infra.toolchain import ROOT, is_clone

SOURCES = ("acta/__init__.py", "acta/engine", "acta/functions", "acta/infra", "acta/tools")
PAGE = "console"
"""The sources of the page, in a clone. Beside an installed package, a folder of this name is somebody else's."""
NOT_DEPLOYED = ("acta/infra/local", "acta/infra/deployed", "acta/infra/toolchain.py")
DIGITS = 8


def release_of(environment: Environment) -> str:
    """The release's name, such as `0.1.0-3fa9c1d2`. Writing another schema version, or changing a setting, makes
    another release. How the release is rolled out is not part of its name.
    """
    usual = replace(
        environment, roll_out=AT_ONCE, tools_dir=DEFAULT_DIR
    )  # where the folders are does not matter
    text = f"{_sources()}\n{usual!r}{digest_of(environment.tool_folders)}"
    return f"{__version__}-{hashlib.sha256(text.encode()).hexdigest()[:DIGITS]}"


@cache
def _sources() -> str:
    return digest_of_sources(ROOT, NOT_DEPLOYED)


def digest_of_sources(root: Path, left_out: Sequence[str]) -> str:
    """A digest of the sources of a deployment in the tree at `root`. Files and folders of `left_out` and bytecode do
    not count.
    """
    digest = hashlib.sha256()
    skipped = [root / name for name in left_out]
    for source in (root / name for name in (*SOURCES, *((PAGE,) if is_clone(root) else ()))):
        for path in [source] if source.is_file() else sorted(source.rglob("*")):
            is_source = path.is_file() and "__pycache__" not in path.parts
            if is_source and not any(path.is_relative_to(each) for each in skipped):
                digest.update(f"{path.relative_to(root).as_posix()}\0".encode())
                digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
