"""Folders of Python tools in `acta dev`: which tools they have, how they are called, and how a change is taken.

Each call runs in a process of its folder, with the Python and the libraries of `acta dev` itself. Such a process serves
the calls of one tenant (ADR 140), one at a time, and is kept for the next one. A tool that hangs is ended at its
deadline, and one that crashes takes nothing else with it. A changed folder is looked at in a new process first. If it
cannot be used, what ran before still runs.
"""

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from acta.embedded.services import FunctionFailed
from acta.engine.files.given import GivenFiles
from acta.engine.files.store import FileExists, FileMissing, FileStore
from acta.engine.tools.tool import PythonTool
from acta.infra.local.tool_watch import Settled, seen
from acta.infra.names import own_tool_function
from acta.infra.packaging.tool_catalogue import BuiltFolder, described, to_catalogue
from acta.infra.tool_folders import BadFolder, ToolFolder, folders_in, require_known

Data = dict[str, Any]
ENVIRONMENT = "local"
MOST_FILES = 1_000
MOST_KEPT = 8
"""Processes that wait for a next call. There are more while more calls run."""
MORE_SECONDS = 2.0
"""How much longer than its deadline a call may take before its process is ended."""
PASSED_ON = ("HOME", "LANG", "PATH", "PYTHONPATH", "TMPDIR", "TZ")
"""The variables that a tool's process has besides its folder's own: in Lambda it has none of this shell's."""
Say = Callable[[str], None]
Log = Callable[[str, str], None]
ReachFiles = Callable[[str | None], FileStore]
"""The files that a person sees; None: those of no person."""


class ToolProcess:
    """One process of a folder. `log`: gets the folder's name and each line of what its tools print."""

    def __init__(self, folder: ToolFolder, log: Log) -> None:
        self.folder = folder
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-B", "-m", "acta.embedded.tool_process", str(folder.path)],
            cwd=folder.path,
            env=variables_of(folder),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # or Ctrl-C in a terminal would reach the tool, and be recorded as its failure
        )
        threading.Thread(target=self._tell, args=(log,), daemon=True).start()

    def _tell(self, log: Log) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            with suppress(OSError):  # a tool that nobody listens to goes on
                log(self.folder.name, line.decode("utf-8", "replace").rstrip("\n"))

    def call(self, event: Data, secrets: Mapping[str, str | None], files: FileStore) -> Data:
        """Raises FunctionFailed, as Lambda tells of an error, a crash and a timeout."""
        left = (datetime.fromisoformat(event["deadline"]) - datetime.now(UTC)).total_seconds() + MORE_SECONDS
        late = threading.Event()

        def end() -> None:
            late.set()
            self.end()

        timer = threading.Timer(max(left, 0.1), end)
        timer.start()
        try:
            self._put({"event": event, "secrets": secrets})
            while True:
                match self._get():
                    case {"answer": dict(answer)}:
                        return answer
                    case {"raised": str(kind)}:
                        raise FunctionFailed(kind)
                    case {"files": [str(method), *given]}:
                        self._put({"said": _asked(files, event["tenant"], method, given)})
        except FunctionFailed:
            raise
        except Exception as error:  # it has ended, or waits for files for ever, so it can take no other call
            self.end()
            ended = isinstance(error, OSError | ValueError)
            kind = "Runtime.ExitError" if ended else type(error).__name__
            raise FunctionFailed("Sandbox.Timedout" if late.is_set() else kind) from None
        finally:
            timer.cancel()

    def _put(self, said: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(said).encode() + b"\n")
        self._process.stdin.flush()

    def _get(self) -> Any:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    @property
    def is_there(self) -> bool:
        return self._process.poll() is None

    def end(self) -> None:
        """With the processes that its tools have begun."""
        with suppress(ProcessLookupError, PermissionError):  # on macOS for one that has ended
            os.killpg(self._process.pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(MORE_SECONDS)


def _asked(files: FileStore, tenant: str, method: str, given: list[Any]) -> Any:
    """What a tool's process asks for: `list` a prefix, `read` a path, `write` a path."""
    match method, given:
        case "list", [str(prefix)]:
            return [(each.path, each.bytes) for each in files.list(tenant, prefix, MOST_FILES).files]
        case "read", [str(path)]:
            try:
                return b64encode(files.read(tenant, path)).decode()
            except FileMissing:
                return None
        case "write", [str(path), str(data), str(write_id), bool(replace)]:
            if replace:
                files.write(tenant, path, b64decode(data))
                return True
            try:
                files.create(tenant, path, b64decode(data), write_id)
            except FileExists:
                return False
            return True
    raise ValueError(f"no request for files: {method}")


def variables_of(folder: ToolFolder) -> dict[str, str]:
    passed_on = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    return {**passed_on, **(folder.variables or {}), "PYTHONDONTWRITEBYTECODE": "1"}


class ToolFolders:
    """`directory`: where the folders are; it need not exist. `known`: the names of all environments, which a folder's
    file may mention. `secrets`: the variables that hold values of secrets, each under the secret's name. `say`: prints
    what a person should know; `log`: gets a folder's name and each line that its tools print.
    """

    def __init__(
        self,
        directory: Path,
        known: Mapping[str, object],
        secrets: Mapping[str, str],
        longest_tool_seconds: int,
        say: Say,
        log: Log,
    ) -> None:
        self.reach_files: ReachFiles | None = None
        self._directory = directory
        self._known = known
        self._secrets = secrets
        self._longest = longest_tool_seconds
        self._say = say
        self._log = log
        self._lock = threading.Lock()
        self._settled = Settled(seen(self._seen_directory))
        self._tools: Mapping[str, PythonTool] = {}
        self._folders: Mapping[str, ToolFolder] = {}
        self._idle: dict[tuple[str, str], list[ToolProcess]] = {}
        self._used: set[ToolProcess] = set()
        self._stopped = threading.Event()

    @property
    def _seen_directory(self) -> Path | None:
        return self._directory if self._directory.is_dir() else None

    @property
    def names(self) -> list[str]:
        return sorted(self._tools)

    def of(self, tenant: str) -> Mapping[str, PythonTool]:
        """The tools that the tenant has, by name."""
        return {name: tool for name, tool in self._tools.items() if tool.is_for(tenant)}

    def begin(self) -> None:
        try:
            self._take()
        except BadFolder as bad:
            self._say(f"tools: {bad}\ntools: none of them is there until this is mended")

    def look(self) -> bool:
        """Takes a change once the folders are the same from one look to the next. False: there is none."""
        if not self._settled.is_new(seen(self._seen_directory)):
            return False
        try:
            self._take()
            self._say(
                f"tools: there are {', '.join(self.names) or 'none'}, the next call runs them as they are now"
            )
        except BadFolder as bad:
            self._say(f"tools: {bad}\ntools: this change is not taken, what ran before still runs")
        return True

    def _take(self) -> None:
        """Raises BadFolder, and then leaves everything as it was."""
        folders = folders_in(self._seen_directory, ENVIRONMENT)
        require_known(folders, list(self._known))
        built = [BuiltFolder(each, each.path, "", _specs(each)) for each in folders]
        text = to_catalogue(built, ENVIRONMENT, self._longest)
        listed = json.loads(text)["tools"] if text else []
        with self._lock:
            self._tools = {each["name"]: PythonTool.model_validate(each) for each in listed}
            self._folders = {own_tool_function(ENVIRONMENT, each.name): each for each in folders}
            old = [process for several in self._idle.values() for process in several]
            self._idle = {}
            self._used = set()  # what runs now ends in the process in which it began
        for process in old:
            process.end()

    def call(self, function: str, environment: str, event: Data) -> Data | None:
        """None: no folder has this function. Raises FunctionFailed."""
        folder = self._folders.get(function)
        if folder is None:
            return None
        assert self.reach_files is not None
        asked = event.get("files") or {}
        person, given = asked.get("person"), asked.get("given")
        secrets = {name: self._secrets.get(name) for name in folder.secrets}
        try:
            with self._process(function, environment, folder) as process:
                files = self.reach_files(person)
                seen = files if given is None else GivenFiles(files, tuple(given))
                return process.call(event, secrets, seen)
        except FunctionFailed:
            if self._stopped.is_set():
                threading.Event().wait()  # for ever: the call was cut off, and the next process makes it again
            raise

    @contextmanager
    def _process(self, function: str, environment: str, folder: ToolFolder) -> Iterator[ToolProcess]:
        with self._lock:
            used = self._used  # a change that is taken begins another set
            idle = self._idle.get((function, environment), [])
            process = idle.pop() if idle else None
        if process is None or not process.is_there:
            process = ToolProcess(folder, self._log)
        with self._lock:
            used.add(process)
        try:
            yield process
        finally:
            with self._lock:
                used.discard(process)
                several = self._idle.setdefault((function, environment), [])
                is_current = used is self._used
                keeps = is_current and process.is_there and sum(map(len, self._idle.values())) < MOST_KEPT
                if keeps:
                    several.append(process)
            if not keeps:
                process.end()

    def stop(self) -> None:
        """Ends all processes. Nobody goes on from what they did not answer."""
        self._stopped.set()
        with self._lock:
            there = [*self._used, *(process for several in self._idle.values() for process in several)]
        for process in there:
            process.end()


def _specs(folder: ToolFolder) -> Any:
    """Raises BadFolder. The message says what to install where a library is missing."""
    command = [sys.executable, "-P", "-B", "-m", "acta.tools.describe", str(folder.path)]
    try:
        return described(folder, command, variables_of(folder), folder.path)
    except BadFolder as bad:
        if folder.requirements and "ModuleNotFoundError" in str(bad):
            raise BadFolder(
                f"{bad}. `acta dev` calls tools with the libraries of its own environment: "
                f"pip install -r {shlex.quote(str(folder.path / 'requirements.txt'))}"
            ) from None
        raise
