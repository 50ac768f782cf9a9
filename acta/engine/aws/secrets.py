"""The deployment's secrets from Secrets Manager, cached for a few minutes, so that a new value needs no deployment."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from acta.engine.aws.clients import Service
from acta.engine.aws.errors import NOT_FOUND, AwsRefused
from acta.engine.errors import AwsDenied

CACHE_SECONDS = 300
KEPT = 1_000
NOT_DECRYPTED = "DecryptionFailure"
"""The KMS key of the secret may not be used, or is disabled."""


class SecretUnreadable(Exception):
    """The secret is no text, or is about to be deleted. The message is AWS's error code, without the name."""


class CachedSecrets:
    """`seconds`: how long a text may be used after it was replaced. `kept`: the most texts that are kept. `now`: a
    clock in seconds; it and the service are arguments for tests.
    """

    def __init__(
        self,
        secretsmanager: Service | None = None,
        now: Callable[[], float] = time.monotonic,
        *,
        seconds: float = CACHE_SECONDS,
        kept: int = KEPT,
    ) -> None:
        self._seconds = seconds
        self._kept = kept
        self._secretsmanager = secretsmanager or Service("secretsmanager", of_deployment=True)
        self._now = now
        self._cache: dict[str, tuple[float, str]] = {}

    def __call__(self, name: str, *, refresh: bool = False) -> str:
        """The secret's text; empty where there is no such secret. `refresh`: reads it even where it is cached.

        Raises AwsDenied where it may not be read or decrypted, StoreThrottled, StoreUnavailable, SecretUnreadable.
        """
        if refresh:
            self._cache.pop(name, None)
        cached = self._cache.get(name)
        if cached is not None and self._now() - cached[0] < self._seconds:
            return cached[1]
        text = self._read(name)
        self._cache.pop(name, None)
        self._cache[name] = (self._now(), text)
        while len(self._cache) > self._kept:
            del self._cache[next(iter(self._cache))]
        return text

    def _read(self, name: str) -> str:
        try:
            answer = self._secretsmanager.call("get_secret_value", SecretId=name)
        except AwsDenied as denied:
            raise AwsDenied(str(denied)) from None  # AWS's message has the secret's name
        except AwsRefused as refused:
            if refused.code == NOT_FOUND:
                return ""
            if refused.code == NOT_DECRYPTED:
                raise AwsDenied(f"get_secret_value: {refused.code}") from None
            raise SecretUnreadable(refused.code) from None
        return _text_of(answer)


def _text_of(answer: Mapping[str, Any]) -> str:
    """A secret that was made from a file is stored as binary, even if it is text."""
    if "SecretString" in answer:
        return str(answer["SecretString"])
    try:
        return bytes(answer.get("SecretBinary", b"")).decode()
    except UnicodeDecodeError:
        raise SecretUnreadable("SecretBinary") from None


secret_text = CachedSecrets()
"""The cache that the whole process uses."""
