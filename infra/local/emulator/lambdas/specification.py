"""What a Lambda process is started from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class FunctionSpecification:
    """One published or `$LATEST` version of a function.

    `fingerprint` changes whenever code or configuration does: processes of another fingerprint are never
    reused, so an update needs no notice from the service that made it.
    """

    name: str
    version: str
    handler: str
    runtime: str
    timeout_seconds: int
    memory_mb: int
    environment: Mapping[str, str] = field(repr=False)
    code: bytes = field(repr=False)
    code_sha256: str
    fingerprint: str


def from_record(record: Mapping[str, Any]) -> FunctionSpecification:
    """Read ministack's function record: `{"config": <GetFunctionConfiguration>, "code_zip": bytes}`."""
    config: Mapping[str, Any] = record.get("config") or record
    code: bytes = record["code_zip"]
    variables = {
        str(k): str(v) for k, v in ((config.get("Environment") or {}).get("Variables") or {}).items()
    }
    code_sha256 = str(config.get("CodeSha256") or "") or hashlib.sha256(code).hexdigest()
    parts = [config.get("Handler"), config.get("Runtime"), config.get("Timeout"), config.get("MemorySize")]
    identity = json.dumps([code_sha256, variables, parts], sort_keys=True)
    return FunctionSpecification(
        name=str(config.get("FunctionName", "unknown")),
        version=str(config.get("Version") or "$LATEST"),
        handler=str(config.get("Handler") or ""),
        runtime=str(config.get("Runtime") or ""),
        timeout_seconds=int(config.get("Timeout") or 3),
        memory_mb=int(config.get("MemorySize") or 128),
        environment=variables,
        code=code,
        code_sha256=code_sha256,
        fingerprint=hashlib.sha256(identity.encode()).hexdigest(),
    )
