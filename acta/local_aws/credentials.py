"""Credentials for the local AWS: every run makes its own, and writes them where only their owner can read them.

Forms as on AWS. Source: IAM user guide, "IAM identifiers", section "Unique identifiers": `AKIA` begins a long-term key,
`ASIA` a temporary one, which is of no use without its session token.
"""

from __future__ import annotations

import configparser
import os
import secrets
import string
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FILE = "credentials"
"""In the state directory of the emulator, while it runs."""

_PROFILE = "default"
_KEY_CHARACTERS = string.ascii_uppercase + "234567"


class NoCredentials(Exception):
    """The file is not there or does not hold credentials; the message is one line for a person."""


@dataclass(frozen=True)
class Credentials:
    access_key_id: str
    secret_access_key: str = field(repr=False)
    session_token: str | None = field(default=None, repr=False)
    """None: long-term credentials."""

    @classmethod
    def new(cls, *, temporary: bool = False) -> Credentials:
        key = "".join(secrets.choice(_KEY_CHARACTERS) for _ in range(16))
        secret = secrets.token_urlsafe(30)
        if temporary:
            return cls(f"ASIA{key}", secret, secrets.token_urlsafe(48))
        return cls(f"AKIA{key}", secret)

    @classmethod
    def from_file(cls, path: Path) -> Credentials:
        """Raises NoCredentials."""
        text = configparser.RawConfigParser()
        try:
            with path.open(encoding="ascii") as file:
                text.read_file(file)
            return cls(text[_PROFILE]["aws_access_key_id"], text[_PROFILE]["aws_secret_access_key"])
        except (OSError, ValueError, KeyError, configparser.Error):
            raise NoCredentials(f"{path} holds no credentials: does a local AWS run there?") from None

    def to_file(self, path: Path) -> None:
        """In the form of AWS's shared credentials file, so that `AWS_SHARED_CREDENTIALS_FILE` may name it.

        Readable by its owner only, from its first byte on.
        """
        draft = path.with_name(f"{path.name}.new")
        draft.unlink(missing_ok=True)
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(handle, "w", encoding="ascii") as file:
            file.write(
                f"[{_PROFILE}]\n"
                f"aws_access_key_id = {self.access_key_id}\n"
                f"aws_secret_access_key = {self.secret_access_key}\n"
            )
        os.replace(draft, path)

    def as_variables(self) -> dict[str, str]:
        """The variables that every AWS SDK reads."""
        token = {"AWS_SESSION_TOKEN": self.session_token} if self.session_token else {}
        return {
            "AWS_ACCESS_KEY_ID": self.access_key_id,
            "AWS_SECRET_ACCESS_KEY": self.secret_access_key,
            **token,
        }

    def as_arguments(self) -> dict[str, Any]:
        """Those of `boto3.client`."""
        return {name.lower(): value for name, value in self.as_variables().items()}
