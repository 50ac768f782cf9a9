"""What a Lambda process is started from: the function as configured, and its environment."""

from __future__ import annotations

import hashlib
import json
import os
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from acta.local_aws.credentials import Credentials
from acta.local_aws.settings import REGION, Settings


@dataclass(frozen=True)
class Function:
    """One version of a function, `$LATEST` or published.

    `fingerprint` changes whenever code or configuration does. A process with another fingerprint is never reused, so
    nobody has to report an update. `timeout_seconds`, `memory_mb`: as deployed.
    """

    name: str
    version: str
    handler: str
    runtime: str
    timeout_seconds: int
    memory_mb: int
    role: str
    environment: Mapping[str, str] = field(repr=False)
    code: bytes = field(repr=False)
    fingerprint: str

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Function:
        """ministack's record of a function: `{"config": <GetFunctionConfiguration>, "code_zip": bytes}`."""
        config: Mapping[str, Any] = record.get("config") or record
        code: bytes = record["code_zip"]
        variables = {
            str(k): str(v) for k, v in ((config.get("Environment") or {}).get("Variables") or {}).items()
        }
        code_digest = str(config.get("CodeSha256") or "") or hashlib.sha256(code).hexdigest()
        parts = [
            config.get("Handler"),
            config.get("Runtime"),
            config.get("Timeout"),
            config.get("MemorySize"),
            config.get("Role"),
        ]
        identity = json.dumps([code_digest, variables, parts], sort_keys=True)
        return cls(
            name=str(config.get("FunctionName", "unknown")),
            version=str(config.get("Version") or "$LATEST"),
            handler=str(config.get("Handler") or ""),
            runtime=str(config.get("Runtime") or ""),
            timeout_seconds=int(config.get("Timeout") or 3),
            memory_mb=int(config.get("MemorySize") or 128),
            role=str(config.get("Role") or ""),
            environment=variables,
            code=code,
            fingerprint=hashlib.sha256(identity.encode()).hexdigest(),
        )


def environment(
    function: Function, settings: Settings, task_root: Path, tmp: Path, api: str, credentials: Credentials
) -> dict[str, str]:
    """The variables of a process: those that AWS sets, and nothing of this machine.

    `api` is the `host:port` of the process's Runtime API, `credentials` those of the function's role. Added for
    local use: `AWS_ENDPOINT_URL`, the variables that the starter gives to every function or to this one alone (a
    provider's key), and `TMPDIR`, which stands for the private `/tmp`. The two `/dev/null`s keep a developer's own AWS
    profile from the function: a real Lambda has no home directory to read one from. Source: Lambda developer guide,
    "Defined runtime environment variables".
    """
    day = datetime.now(UTC).strftime("%Y/%m/%d")
    values = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "TZ": ":UTC",
        "TMPDIR": str(tmp),
        "_HANDLER": function.handler,
        "LAMBDA_TASK_ROOT": str(task_root),
        "AWS_EXECUTION_ENV": f"AWS_Lambda_{function.runtime}",
        "AWS_LAMBDA_FUNCTION_NAME": function.name,
        "AWS_LAMBDA_FUNCTION_VERSION": function.version,
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(function.memory_mb),
        "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",
        "AWS_LAMBDA_LOG_GROUP_NAME": f"/aws/lambda/{function.name}",
        "AWS_LAMBDA_LOG_STREAM_NAME": f"{day}/[{function.version}]{uuid.uuid4().hex}",
        "AWS_XRAY_CONTEXT_MISSING": "LOG_ERROR",
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    }
    values.update(function.environment)
    values.update(settings.lambda_environment)
    values.update(settings.function_environments.get(function.name, {}))
    values.update(credentials.as_variables())
    values.update({"AWS_LAMBDA_RUNTIME_API": api, "AWS_ENDPOINT_URL": settings.lambda_endpoint})
    return values
