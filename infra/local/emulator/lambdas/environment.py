"""The environment variables of a Lambda process: what the real service sets, and nothing of this machine.

Source: Lambda developer guide, "Defined runtime environment variables". Added for local use:
`AWS_ENDPOINT_URL`, the variables that the starter gives to all functions or to this one alone (a provider's
key, a secret to sign with), and `TMPDIR` (stands for the private `/tmp`). The two `/dev/null`s keep a
developer's own AWS profile from the function: a real Lambda has no home directory to read one from.
"""

from __future__ import annotations

import os
import uuid
from datetime import UTC, datetime
from pathlib import Path

from infra.local.emulator.lambdas.specification import FunctionSpecification
from infra.local.emulator.settings import ACCOUNT, REGION, Settings


def for_process(
    function: FunctionSpecification, settings: Settings, task_root: Path, tmp: Path, api: str
) -> dict[str, str]:
    """`api` is the `host:port` of the process's Runtime API."""
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
        # A twelve-digit key names the account in ministack; any secret signs for it.
        "AWS_ACCESS_KEY_ID": ACCOUNT,
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_SESSION_TOKEN": "test",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    }
    values.update(function.environment)
    values.update(settings.lambda_environment)
    values.update(settings.function_environments.get(function.name, {}))
    values.update({"AWS_LAMBDA_RUNTIME_API": api, "AWS_ENDPOINT_URL": settings.lambda_endpoint})
    return values
