"""What is kept of sign-ins on this machine: one file for each environment, which only its owner may read."""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from acta.client.errors import SignInError
from acta.client.sign_in.oidc import Application, TokenSet

ENVIRONMENT_PATTERN = r"[a-z0-9]+(-[a-z0-9]+)*"
"""The names that environments may have (`acta/infra/environments.py`). Here they are names of files."""
LONGEST_NAME = 100
VERSION = 1


@dataclass(frozen=True)
class SignIn:
    """A sign-in to one environment. `tokens`: None after a sign-out; the address is kept for the next sign-in."""

    api_url: str
    application: Application
    tokens: TokenSet | None = None


def folder(environ: Mapping[str, str] = os.environ) -> Path:
    """`$XDG_CONFIG_HOME/acta`, or `~/.config/acta`. Source: XDG Base Directory Specification."""
    named = environ.get("XDG_CONFIG_HOME", "")
    base = Path(named) if os.path.isabs(named) else Path(environ.get("HOME") or Path.home()) / ".config"
    return base / "acta"


class Store:
    """The sign-ins below `path`. Raises SignInError where the files cannot be read or written."""

    def __init__(self, path: Path) -> None:
        self._folder = path / "environments"

    def read(self, environment: str) -> SignIn | None:
        """The sign-in to the environment; None if nobody has signed in to it from here."""
        try:
            text = self._path(environment).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeError) as error:
            raise SignInError(f"{self._path(environment)} cannot be read: {reason(error)}") from None
        try:
            stored = json.loads(text)
            if stored["version"] != VERSION:
                raise ValueError("written by another release")
            application, tokens = Application(**stored["application"]), stored["tokens"]
            return SignIn(str(stored["api_url"]), application, None if tokens is None else TokenSet(**tokens))
        except (ValueError, TypeError, KeyError, AttributeError):
            raise SignInError(
                f"{self._path(environment)} is damaged: delete it and sign in with `acta login --env {environment}`"
            ) from None

    def write(self, environment: str, sign_in: SignIn) -> None:
        """Writes all or nothing: whoever reads meanwhile gets what was there before."""
        path = self._path(environment)
        text = json.dumps({"version": VERSION, **asdict(sign_in)}, indent=2) + "\n"
        beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        try:
            self._make_folder()
            descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                with os.fdopen(descriptor, "w", encoding="utf-8") as handle:
                    handle.write(text)
                    handle.flush()
                    os.fsync(handle.fileno())
                os.replace(beside, path)
            except BaseException:
                beside.unlink(missing_ok=True)
                raise
        except OSError as error:
            raise SignInError(f"{path} cannot be written: {reason(error)}") from None

    def sign_out(self, environment: str) -> SignIn | None:
        """Forgets the tokens. Returns what was stored before; None if nothing was."""
        with self.locked(environment):
            before = self.read(environment)
            if before is not None and before.tokens is not None:
                self.write(environment, replace(before, tokens=None))
            return before

    def environments(self) -> list[str]:
        """The environments that have a file."""
        return sorted(path.stem for path in self._folder.glob("*.json") if fits(path.stem))

    @contextmanager
    def locked(self, environment: str) -> Iterator[None]:
        """One process at a time changes the sign-in to an environment: a refresh token may work only once."""
        path = self._path(environment).with_suffix(".lock")
        try:
            self._make_folder()
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise SignInError(f"{path} cannot be written: {reason(error)}") from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _make_folder(self) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def _path(self, environment: str) -> Path:
        if not fits(environment):
            raise SignInError(
                "an environment's name is of lower-case letters, digits and single hyphens, such as prod"
            )
        return self._folder / f"{environment}.json"


def fits(environment: str) -> bool:
    return len(environment) <= LONGEST_NAME and re.fullmatch(ENVIRONMENT_PATTERN, environment) is not None


def reason(error: Exception) -> str:
    return (isinstance(error, OSError) and error.strerror) or type(error).__name__
