"""The state directory of a local stack: which stack serves it, and what a second command needs to reach that stack."""

import fcntl
import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from acta.engine.untrusted.own_files import write_own
from acta.local_aws.credentials import FILE
from acta.local_aws.reverse_proxy import Front, PortTaken
from acta.repository import repository

DEFAULT_STATE_DIR = Path(".acta")
"""In the repository, wherever in it a command is given, or else in the current folder."""
LOG = "acta.log"
"""The file in which `acta dev` collects what the functions log."""


class StateInUse(RuntimeError):
    """Another live stack serves this directory; the message is one line for a person."""


class NoStack(RuntimeError):
    """No stack has been started from this directory; the message is one line for a person."""


class InFile:
    """A dataclass that is kept as JSON."""

    @classmethod
    def from_file(cls, path: Path) -> Self | None:
        """None: there is no such file, or one of another release."""
        try:
            return cls(**json.loads(path.read_text()))
        except (OSError, ValueError, TypeError):
            return None

    def to_file(self, path: Path) -> None:
        """Writes the file completely or not at all."""
        write_own(path, json.dumps(vars(self)).encode())


@dataclass(frozen=True)
class LocalDeployment(InFile):
    """Which assembly is deployed as which API. `issuer_url` is the issuer that the API's authorizer trusts."""

    assembly_key: str
    issuer_url: str
    api_id: str


@dataclass(frozen=True)
class RunningStack(InFile):
    """`state.json`. The file stays when the stack ends, so that the next start can take the same port."""

    pid: int
    port: int
    api_url: str
    aws_endpoint_url: str
    provider: str


class StateDir:
    """Only its owner can read it. `lock` is held for as long as a stack serves the directory."""

    def __init__(self, path: Path) -> None:
        here = (repository() if path == DEFAULT_STATE_DIR else None) or Path.cwd()
        self.path = (here / path).resolve()
        self.handle: int | None = None

    @property
    def aws(self) -> Path:
        return self.path / "aws"

    @property
    def credentials(self) -> Path:
        """The file with the credentials that sign calls to the local AWS while it runs."""
        return self.aws / FILE

    @property
    def deployment(self) -> Path:
        return self.path / "deployment.json"

    @property
    def log(self) -> Path:
        return self.path / "cdk.log"

    def open_front(self, port: int | None, preferred: int | None) -> tuple[Front, int | None]:
        """Listens on `port`; else on the last one, so that tokens stay valid; else on the preferred one; else on any
        free one. And the last port, if another program has it now. Raises PortTaken for `port`.
        """
        if port is not None:
            return Front(port), None
        last = self.read()
        wanted = preferred if last is None else last.port
        if wanted is not None:
            with suppress(PortTaken):
                return Front(wanted), None
        return Front(), None if last is None else last.port

    def claim(self) -> None:
        """Raises StateInUse, or OSError when the path cannot be a directory."""
        self.path.mkdir(parents=True, exist_ok=True)
        self.path.chmod(0o700)  # also if the directory existed
        handle = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            raise self.in_use() from None
        self.handle = handle
        write_own(self.path / ".gitignore", b"*\n")  # it has keys and is in the user's project

    def in_use(self) -> StateInUse:
        other = self.read()
        where = f" at {other.api_url} (process {other.pid})" if other else ""
        return StateInUse(f"a local stack already serves {self.path}{where}: stop it or use another --state")

    def release(self) -> None:
        if self.handle is not None:
            os.close(self.handle)
            self.handle = None

    def is_served(self) -> bool:
        try:
            handle = os.open(self.path / "lock", os.O_RDWR)
        except OSError:
            return False
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(handle)
        return False

    def read(self) -> RunningStack | None:
        return RunningStack.from_file(self.path / "state.json")

    def write(self, stack: RunningStack) -> None:
        stack.to_file(self.path / "state.json")

    def running(self) -> RunningStack:
        """The stack that serves this directory now; raises NoStack."""
        stack = self.read()
        if stack is None or not self.is_served():
            raise NoStack(
                f"no local stack serves {self.path}: start one with `acta dev` (or `acta up`), or name its --state"
            )
        return stack
