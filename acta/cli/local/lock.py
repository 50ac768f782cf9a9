"""`acta lock [FOLDER...]`: writes which versions and hashes the libraries of Python tools have, or checks it."""

import os
from argparse import Namespace
from pathlib import Path

from acta.cli import exit_codes
from acta.cli.exit_codes import CliError
from acta.cli.terminal.text import cli_error, one_line, visible
from acta.infra.packaging.tool_lock import locked, make_lock
from acta.infra.tool_folders import MODULE, BadFolder, ToolFolder, tools_directory


def lock(arguments: Namespace) -> int:
    """Raises CliError for a folder that has no tools, or whose libraries cannot be locked."""
    tools_dir = Path(arguments.dir or os.path.relpath(tools_directory(os.environ)))
    found = sorted(path.parent.name for path in tools_dir.glob(f"*/{MODULE}"))
    unknown = [name for name in arguments.folder or () if name not in found]
    if unknown or not found:
        raise CliError(f"{one_line(str(tools_dir / ''.join(unknown[:1])))}: there are no Python tools here")
    for name in arguments.folder or found:
        folder = ToolFolder(name, tools_dir / name, tenants=())
        with cli_error(BadFolder):
            if folder.requirements and not arguments.check:
                make_lock(folder, upgrade=bool(arguments.upgrade))
            fits = locked(folder)
        said = "its libraries are locked" if fits else "it asks for no libraries"
        print(visible(f"{folder.path}: {said}"))
    return exit_codes.OK
