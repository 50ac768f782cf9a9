"""Secrets by name from Secrets Manager, kept for a while so that a rotation is seen without a deployment."""

import time

from shared.adapters.aws_clients import Service

KEPT_SECONDS = 300

_kept: dict[str, tuple[float, str]] = {}


def secret_text(name: str) -> str:
    """Raises StoreThrottled, StoreUnavailable, and AwsRefused where there is no such secret."""
    kept = _kept.get(name)
    if kept is not None and time.monotonic() - kept[0] < KEPT_SECONDS:
        return kept[1]
    text = str(Service("secretsmanager").call("get_secret_value", SecretId=name)["SecretString"])
    _kept[name] = (time.monotonic(), text)
    return text
