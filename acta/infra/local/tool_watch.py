"""Applies changes in the folders of Python tools while a local stack runs (docs/own-tools.md).

The folders are looked at twice a second, and a changed folder is built. If its tools are described as before, its code
is put into its Lambda; otherwise everything is deployed, as at the start. A running call ends in the process in which
it began. If a folder cannot be built or deployed, its previous version stays in use.
"""

import hashlib
import io
import json
import os
import sys
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from acta.engine.aws.clients import Service
from acta.engine.errors import ActaError
from acta.engine.untrusted.own_files import write_own
from acta.infra.names import own_tool_function
from acta.infra.packaging.install import InstallTarget
from acta.infra.packaging.tool_catalogue import BuiltFolder, build_folder
from acta.infra.tool_folders import MODULE, BadFolder, ToolFolder

Seen = Mapping[str, tuple[int, int]]
"""Path of a file from the tools directory -> when it was last written, in nanoseconds, and its size in bytes."""


class LiveFolder(NamedTuple):
    """A folder as it is in use. `code`: the key of its bundle. `shape`: identifies what the deployment says about it,
    which is its tools' schemas and its settings.
    """

    code: str
    shape: str


class FolderUpdate(NamedTuple):
    """`deploy`: everything has to be deployed, because folders were added or removed or have another shape; if False,
    the code of `folders` is put into their Lambdas. `folders`: the folders that differ, by name. `gone`: the removed
    folders.
    """

    deploy: bool
    folders: Sequence[str]
    gone: Sequence[str] = ()


def update(live: Mapping[str, LiveFolder], wanted: Mapping[str, LiveFolder]) -> FolderUpdate | None:
    """None: nothing differs."""
    gone = tuple(sorted(live.keys() - wanted.keys()))
    differing = tuple(sorted(name for name, one in wanted.items() if live.get(name) != one))
    if not gone and not differing:
        return None
    shaped = [name for name in differing if name not in live or live[name].shape != wanted[name].shape]
    return FolderUpdate(bool(gone or shaped), differing, gone)


class Settled:
    """Says when a change is over: an editor writes several files, and each of them in pieces."""

    def __init__(self, seen: Seen) -> None:
        self._taken = self._last = seen

    def is_new(self, seen: Seen) -> bool:
        """Whether something has changed since this last returned True, and nothing has changed since the last look."""
        is_still, self._last = seen == self._last, seen
        if not is_still or seen == self._taken:
            return False
        self._taken = seen
        return True


ENVIRONMENT = "local"
SECONDS_BETWEEN_LOOKS = 0.5
HERE = InstallTarget(sys.version_info[:2])
"""Local functions run on this machine."""

Built = Mapping[str, BuiltFolder]
Build = Callable[[ToolFolder, InstallTarget], BuiltFolder]
"""Raises BadFolder."""


class DeployFailed(RuntimeError):
    """The message is for a person."""


class Stack(Protocol):
    """A local stack that serves."""

    @property
    def tools_dir(self) -> Path | None:
        """None: there is none now."""

    def tool_folders(self) -> tuple[ToolFolder, ...]:
        """As they are now. Raises BadFolder."""

    def lambdas(self) -> Any:
        """A client of its Lambda."""

    def deploy_again(self) -> None:
        """With the folders as they are now. Raises DeployFailed."""


class ToolWatch:
    """`record`: the file that says which code was put into which Lambda; the stack's template then still names older
    code. `say`: prints a line.
    """

    def __init__(
        self, stack: Stack, record: Path, say: Callable[[str], None], build: Build = build_folder
    ) -> None:
        self._build = build
        self._stack = stack
        self._record = record
        self._say = say
        self._settled = Settled(seen(stack.tools_dir))
        self._live: Mapping[str, LiveFolder] = {}
        self._names: list[str] = []
        self._refused = False

    def begin(self) -> None:
        """After the start, which has deployed the folders."""
        try:
            built = self._built()
            self._put_where_older(built)
            self._know(built)
        except (BadFolder, ActaError) as failed:
            self._say(f"tools: {failed}")

    @property
    def names(self) -> list[str]:
        """The names of all tools."""
        return self._names

    @property
    def folders(self) -> list[str]:
        """The names of the folders in use."""
        return sorted(self._live)

    def look(self) -> bool:
        """Applies changes once they are the same from one look to the next. False: there are none to apply."""
        if not self._settled.is_new(seen(self._stack.tools_dir)):
            return False
        try:
            built = self._built()
            found = update(self._live, {name: live(one) for name, one in built.items()})
            if found is not None:
                self._take(found, built)
                self._know(built)
            elif self._refused:
                self._say("tools: mended, they are as they run")
            self._refused = False
        except (BadFolder, DeployFailed, ActaError) as failed:
            self._refused = True
            self._say(f"tools: {failed}\ntools: this change is not taken, what ran before still runs")
        return True

    def _know(self, built: Built) -> None:
        self._live = {name: live(one) for name, one in built.items()}
        self._names = sorted(spec["name"] for one in built.values() for spec in one.specs)

    def _built(self) -> Built:
        """Raises BadFolder."""
        return {folder.name: self._build(folder, HERE) for folder in self._stack.tool_folders()}

    def _take(self, found: FolderUpdate, built: Built) -> None:
        """Raises DeployFailed and what the store's client raises."""
        if found.deploy:
            self._say(f"tools: {in_words(found, self._live)}; deploying, which takes a minute or two ...")
            self._stack.deploy_again()
            self._put_where_older(built)
            self._know(built)
            self._say(f"tools: deployed; there are {', '.join(self._names) or 'none'}")
            return
        for name in found.folders:
            self._put(built[name])
        self._say(f"tools: {', '.join(found.folders)} updated, the next call runs it")

    def _put_where_older(self, built: Built) -> None:
        """Call it after a deployment: CloudFormation does not see code that was put into a Lambda directly."""
        put = self._read_record()
        for name, one in built.items():
            if put.get(name, one.key) != one.key:
                self._put(one)

    def _put(self, one: BuiltFolder) -> None:
        Service("lambda", self._stack.lambdas()).call(
            "update_function_code",
            FunctionName=own_tool_function(ENVIRONMENT, one.folder.name),
            ZipFile=zipped(one.path),
        )
        write_own(self._record, json.dumps({**self._read_record(), one.folder.name: one.key}).encode())

    def _read_record(self) -> dict[str, str]:
        try:
            found = json.loads(self._record.read_text())
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}


def seen(tools_dir: Path | None) -> Seen:
    """Files of the folders that have tools, without those of tests and editors and those that disappear meanwhile."""
    found: dict[str, tuple[int, int]] = {}
    folders: list[Path] = []
    if tools_dir is not None:
        with suppress(FileNotFoundError):
            folders = [path for path in tools_dir.iterdir() if (path / MODULE).is_file()]
    for folder in folders:
        for place, below, names in os.walk(folder):
            below[:] = [name for name in below if not _is_left_out(name)]  # os.walk looks into these
            for name in names:
                path = Path(place, name)
                with suppress(FileNotFoundError):
                    if not _is_left_out(name):
                        told = path.stat()
                        found[str(path.relative_to(folder.parent))] = told.st_mtime_ns, told.st_size
    return found


def _is_left_out(name: str) -> bool:
    return name.startswith(".") or name == "__pycache__"


def live(built: BuiltFolder) -> LiveFolder:
    folder = built.folder
    said = (
        folder.tenants,
        folder.memory,
        folder.timeout_seconds,
        folder.secrets,
        folder.variables,
        built.specs,
    )
    return LiveFolder(built.key, hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest())


def in_words(found: FolderUpdate, before: Mapping[str, LiveFolder]) -> str:
    """Why everything is deployed, in words for a person."""
    new = [name for name in found.folders if name not in before]
    other = [name for name in found.folders if name in before]
    said = [
        f"{', '.join(names)} {word}"
        for names, word in ((new, "is new"), (found.gone, "is gone"), (other, "has other tools or settings"))
        if names
    ]
    return "; ".join(said)


def zipped(folder: Path) -> bytes:
    """The folder as a zip for Lambda. Equal folders give equal bytes."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                place = zipfile.ZipInfo(path.relative_to(folder).as_posix())
                place.external_attr = (path.stat().st_mode & 0o777) << 16
                place.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(place, path.read_bytes())
    return target.getvalue()
