"""Python functions run under AWS's runtime client, in processes and an environment of their own.

Restores: the exception's class name as `errorType`, process isolation, the function's timeout,
`Runtime.ExitError` for a process that died, `Function.ResponseSizeTooLarge`, an environment without the
emulator's variables and packages, and cold starts that queue. Patches:
`services.lambda_svc._execute_function_warm` (Python runtimes only).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from infra.local.emulator import closing
from infra.local.emulator.lambdas import specification
from infra.local.emulator.lambdas.pool import ProcessPool, Throttled
from infra.local.emulator.lambdas.process import LambdaProcess
from infra.local.emulator.settings import Settings
from infra.local.emulator.upstream import module


def apply(settings: Settings) -> None:
    lambda_service = module("services.lambda_svc")
    run_other_runtime = lambda_service._execute_function_warm
    pool = ProcessPool(lambda function: LambdaProcess(function, settings))
    closing.before_saving(pool.close)
    closing.before_saving(module("core.lambda_runtime").reset)  # the other runtimes' processes

    def execute(record: Mapping[str, Any], event: object, request_id: str) -> dict[str, Any]:
        config: Mapping[str, Any] = record.get("config") or record
        if not str(config.get("Runtime", "")).startswith("python") or not record.get("code_zip"):
            result: dict[str, Any] = run_other_runtime(record, event, request_id)
            return result
        try:
            outcome = pool.invoke(
                specification.from_record(record),
                request_id,
                json.dumps(event, ensure_ascii=False).encode(),
                str(config.get("FunctionArn", "")),
                lambda_service._xray_trace_id_for_invocation(config),
            )
        except Throttled:
            throttled: dict[str, Any] = lambda_service._throttle_response(
                reason_code="ConcurrentInvocationLimitExceeded", msg="Rate Exceeded."
            )
            return throttled
        result = {"body": _decoded(outcome.body), "log": outcome.log}
        if outcome.failed:
            result["error"] = True
        return result

    lambda_service._execute_function_warm = execute


def _decoded(body: bytes) -> object:
    try:
        return json.loads(body) if body else None
    except ValueError:
        return body.decode(errors="replace")
