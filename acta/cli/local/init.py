"""`acta init [FOLDER]`: makes a repository of your own, with an agent, a tool, tests, environments and CI, which works
as it is made. `repository/` beside this file is what it makes.
"""

import json
import shutil
from argparse import Namespace
from collections.abc import Mapping
from importlib.metadata import distribution
from pathlib import Path
from urllib.parse import unquote, urlsplit

from acta import __version__
from acta.cli import exit_codes
from acta.cli.connection import Invocation
from acta.cli.exit_codes import CliError
from acta.cli.terminal.text import cli_error, one_line, visible
from acta.repository import repository

TEMPLATE = Path(__file__).parent / "repository"
PACKAGE = "acta-agents"


def init(arguments: Namespace) -> int:
    """Never overwrites. Raises CliError if one of its files is there already, unless only the others are wanted."""
    folder = Path(arguments.folder or ".")
    around = repository(folder.resolve().parent)
    if around is not None:
        raise CliError(
            f"nothing was written: this folder is in a repository already, {one_line(str(around))}"
        )
    letters = (each if each.isascii() and each.isalnum() else "-" for each in folder.resolve().name)
    files = repository_files("".join(letters).strip("-")[:64] or "main")
    there = [name for name in files if (folder / name).exists()]
    if there and not arguments.missing:
        raise CliError(
            f"nothing was written, because these files are there already: {one_line(', '.join(there), 500)}. "
            "--missing writes the others"
        )
    made = [name for name in files if name not in there]
    with cli_error(OSError, words=f"{one_line(str(folder))}: {{}}"):
        for name in made:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8") as file:
                file.write(files[name])
        origin = json.loads(distribution(PACKAGE).read_text("direct_url.json") or "{}").get("url", "")
        kept_before = {*folder.glob("wheels/*")}
        wheel = keep_wheel(origin, folder / "wheels")
    if wheel is not None and wheel not in kept_before:
        made.append(wheel.relative_to(folder).as_posix())
    here = Invocation.from_arguments(Namespace())
    following = {
        "pytest": "the tests of the tool and of the agent",
        here.line("dev"): "serves them from one process, until Ctrl-C",
        here.line("apply"): "in another terminal: brings the agent of agents/desk.yaml",
        here.line(
            "run", "--agent", "desk", 'use lookup_orders with {"number": "7"}'
        ): "the agent uses the tool",
    }
    if arguments.json:
        print(json.dumps({"folder": str(folder), "files": made, "next": [*following]}))
        return exit_codes.OK
    where = "" if folder == Path(".") else f" in {folder}"
    print(visible(f"Made{where}: {', '.join(made) or 'nothing, because all of it is there'}."))
    if wheel is None:
        print("requirements.txt names Acta's wheel: put it into wheels/, for your colleagues and for CI.")
    print(visible(f"Next{where}:"))
    print_commands(following)
    return exit_codes.OK


def print_commands(following: Mapping[str, str]) -> None:
    """`following`: command -> what it does."""
    for command, what in following.items():
        print(f"  {visible(command)}    # {what}")


def repository_files(set_name: str) -> dict[str, str]:
    """Path in the repository -> content."""
    words = {"SET_NAME": set_name, "ACTA_VERSION": __version__}
    found = {}
    for path in sorted(TEMPLATE.rglob("*")):
        if path.is_file() and not {"__pycache__", ".pytest_cache"} & {*path.parts}:
            text = path.read_text(encoding="utf-8")
            for word, value in words.items():
                text = text.replace(word, value)
            found[path.relative_to(TEMPLATE).as_posix()] = text
    return found


def keep_wheel(origin: str, folder: Path) -> Path | None:
    """Copies the wheel that this Acta was installed from, so that the repository installs wherever it is checked out.
    None: it was not installed from a file, or the file is gone. `origin`: what pip says about that (PEP 610).
    """
    wheel = Path(unquote(urlsplit(origin).path))
    if not origin.startswith("file:") or wheel.suffix != ".whl" or not wheel.is_file():
        return None
    folder.mkdir(exist_ok=True)
    if not (folder / wheel.name).exists():
        shutil.copy(wheel, folder / wheel.name)
    return folder / wheel.name
