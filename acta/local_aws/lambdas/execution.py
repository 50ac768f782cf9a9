"""Python functions run under AWS's runtime client, each process with an environment of its own.

Restores: the exception's class name as `errorType`, process isolation, the function's timeout,
`Runtime.ExitError` for a process that died, `Function.ResponseSizeTooLarge`, an environment without the
emulator's variables and packages, and cold starts that queue.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

from acta.local_aws import saved_state
from acta.local_aws.lambdas.code import UnpackedCode
from acta.local_aws.lambdas.function import Function
from acta.local_aws.lambdas.pool import ProcessPool, Throttled
from acta.local_aws.lambdas.process import LambdaProcess
from acta.local_aws.ministack import module
from acta.local_aws.settings import Settings

_TENANT: ContextVar[str | None] = ContextVar("tenant", default=None)
"""The `TenantId` of the invocation that this task or thread carries out."""


def run_python_functions(settings: Settings) -> None:
    """Patches: `services.lambda_svc._execute_function_warm`, for Python runtimes only."""
    lambda_service = module("services.lambda_svc")
    run_other_runtime = lambda_service._execute_function_warm
    code = UnpackedCode(settings.code_dir)
    pool = ProcessPool(lambda function, tenant: LambdaProcess(function, settings, code, tenant))
    saved_state.before_saving(pool.close)
    saved_state.before_saving(module("core.lambda_runtime").reset)  # processes of other runtimes

    def execute(record: Mapping[str, Any], event: object, request_id: str) -> dict[str, Any]:
        config: Mapping[str, Any] = record.get("config") or record
        if not str(config.get("Runtime", "")).startswith("python") or not record.get("code_zip"):
            result: dict[str, Any] = run_other_runtime(record, event, request_id)
            return result
        try:
            outcome = pool.invoke(
                Function.from_record(record),
                request_id,
                json.dumps(event).encode(),  # ASCII, which also has halves of surrogate pairs
                str(config.get("FunctionArn", "")),
                lambda_service._xray_trace_id_for_invocation(config),
                _TENANT.get() if config.get("TenancyConfig") else None,
            )
        except Throttled:
            throttled: dict[str, Any] = lambda_service._throttle_response(
                reason_code="ConcurrentInvocationLimitExceeded", msg="Rate Exceeded."
            )
            return throttled
        result = {"log": outcome.log, **_answered(outcome.body)}
        if outcome.failed:
            result["error"] = True
        return result

    lambda_service._execute_function_warm = execute


def isolate_tenants(_settings: Settings) -> None:
    """A function with tenant isolation has to be invoked with a tenant's id, and each of its processes serves one
    tenant. An id for any other function is refused.

    Source: Lambda developer guide, "Tenant isolation" and its pages about invoking and troubleshooting. Patches:
    `services.lambda_svc._invoke`, and `services.cloudformation.provisioners._RESOURCE_HANDLERS`, which forgets
    `TenancyConfig`.
    """
    lambda_service = module("services.lambda_svc")
    handlers = module("services.cloudformation.provisioners")._RESOURCE_HANDLERS["AWS::Lambda::Function"]
    invoke, create = lambda_service._invoke, handlers["create"]

    async def invoke_for_tenant(
        name: str, event: object, headers: Mapping[str, str], *more: object, **named: object
    ) -> object:
        tenant = headers.get("x-amz-tenant-id") or headers.get("X-Amz-Tenant-Id")
        config = (lambda_service._functions.get(name) or {}).get("config") or {}
        if bool(tenant) != bool(config.get("TenancyConfig")):
            return lambda_service.error_response_json(
                "InvalidParameterValueException",
                "Tenant ID configuration not specified or passed to a function when tenant isolation is not enabled.",
                400,
            )
        _TENANT.set(tenant)
        return await invoke(name, event, headers, *more, **named)

    def create_with_tenancy(logical_id: str, props: Mapping[str, Any], stack: str) -> tuple[str, object]:
        name, attributes = create(logical_id, props, stack)
        if "TenancyConfig" in props:
            lambda_service._functions[name]["config"]["TenancyConfig"] = props["TenancyConfig"]
        return name, attributes

    lambda_service._invoke = invoke_for_tenant
    handlers["create"] = create_with_tenancy


def share_reserved_concurrency(_settings: Settings) -> None:
    """What is reserved for a function holds for all its versions, as AWS's documentation says ("Configuring reserved
    concurrency"). As shipped it holds for `$LATEST` alone.

    Patches: `services.lambda_svc._reserved_concurrency`.
    """
    lambda_service = module("services.lambda_svc")
    of_record = lambda_service._reserved_concurrency

    def of_function(record: Mapping[str, Any], config: Mapping[str, Any]) -> int | None:
        function = lambda_service._functions.get(str(config.get("FunctionName")))
        reserved: int | None = of_record(function or record, config)
        return reserved

    lambda_service._reserved_concurrency = of_function


def _answered(body: bytes) -> dict[str, object]:
    """What ministack takes as the answer. It would decode JSON and encode it again, and fail where that cannot be: at
    halves of surrogate pairs, and where JSON is nested very deep. Lambda passes on the bytes, so those go out as they
    came.
    """
    try:
        value = json.loads(body) if body else None
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return {"body": body.decode(errors="replace"), "raw_payload": True}
    return {"body": value}
