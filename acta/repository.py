"""Your own repository, as `acta init` makes it: `acta.yaml`, `environments.py`, agents and tools in one folder."""

from pathlib import Path

MARK = "acta.yaml"
"""Names the set of definitions that `acta apply` keeps in line with the files."""
FILE = "environments.py"
"""The environments: Python, which some commands run."""


def is_repository(folder: Path) -> bool:
    return (folder / MARK).is_file() and (folder / FILE).is_file()


def repository(start: Path | None = None) -> Path | None:
    """The nearest repository: `start` (default: the current folder) or a folder above it. None: there is none.

    Commands run its `environments.py` with your AWS credentials. So a folder above counts only if whoever owns `start`
    owns its files, too: in a folder such as /tmp a stranger may have put them there.
    """
    start = start or Path.cwd()
    for folder in (start, *start.parents):
        if is_repository(folder):
            owners = {path.stat().st_uid for path in (folder / MARK, folder / FILE)}
            return folder if folder == start or owners == {start.stat().st_uid} else None
    return None
