"""Secrets by name from Secrets Manager, kept for a while so that a rotation is seen without a deployment."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from shared.adapters.aws.clients import Service
from shared.adapters.aws.errors import AwsRefused

KEPT_SECONDS = 300
NOT_THERE = "ResourceNotFoundException"


class SecretUnreadable(Exception):
    """It may not be read, or not be decrypted, or is no text. Says which AWS error, not which secret."""


class KeptSecrets:
    """`secretsmanager` and `now` (seconds, of any start) only where a test brings its own."""

    def __init__(
        self, secretsmanager: Service | None = None, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._secretsmanager = secretsmanager or Service("secretsmanager")
        self._now = now
        self._kept: dict[str, tuple[float, str]] = {}

    def __call__(self, name: str, *, refresh: bool = False) -> str:
        """Its text; empty where there is no such secret. `refresh`: reads it again, whatever is kept of it.

        Raises StoreThrottled, StoreUnavailable, SecretUnreadable.
        """
        if refresh:
            self._kept.pop(name, None)
        kept = self._kept.get(name)
        if kept is not None and self._now() - kept[0] < KEPT_SECONDS:
            return kept[1]
        text = self._read(name)
        self._kept[name] = (self._now(), text)
        return text

    def _read(self, name: str) -> str:
        try:
            answer = self._secretsmanager.call("get_secret_value", SecretId=name)
        except AwsRefused as refused:
            if refused.code == NOT_THERE:
                return ""
            raise SecretUnreadable(refused.code) from None  # AWS's sentence names the secret
        return _text_of(answer)


def _text_of(answer: Mapping[str, Any]) -> str:
    """Command lines store a file's text as binary."""
    if "SecretString" in answer:
        return str(answer["SecretString"])
    try:
        return bytes(answer.get("SecretBinary", b"")).decode()
    except UnicodeDecodeError:
        raise SecretUnreadable("SecretBinary") from None


secret_text = KeptSecrets()
"""The process's own."""
