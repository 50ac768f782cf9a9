"""An integration that fails says nothing about itself: 500 for a failed Lambda, 503 after 30 seconds.

Source: API Gateway developer guide, "Quotas for HTTP APIs" (maximum integration timeout 30 seconds) and
"Troubleshooting HTTP API Lambda integrations" (`{"message":"Internal Server Error"}`). Patches:
`services.apigateway._invoke_lambda_proxy`,
`services.lambda_svc.lambda_execute_result_to_api_proxy_response`.
"""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from typing import Any

from infra.local.emulator.settings import Settings
from infra.local.emulator.upstream import module

INTEGRATION_SECONDS = 30.0

# The converter is shared with REST APIs, whose failures look different.
_http_api: ContextVar[bool] = ContextVar("http_api", default=False)


def apply(settings: Settings) -> None:
    gateway = module("services.apigateway")
    lambda_service = module("services.lambda_svc")
    invoke = gateway._invoke_lambda_proxy
    convert = lambda_service.lambda_execute_result_to_api_proxy_response

    async def invoke_bounded(*arguments: Any, **named: Any) -> Any:
        _http_api.set(True)
        call = asyncio.create_task(invoke(*arguments, **named))
        done, _ = await asyncio.wait({call}, timeout=INTEGRATION_SECONDS)
        if not done:  # the function goes on, as on AWS; its answer has no reader any more
            return 503, {"Content-Type": "application/json"}, b'{"message":"Service Unavailable"}'
        return call.result()

    def convert_failures(result: dict[str, Any]) -> Any:
        if _http_api.get() and (result.get("error") or result.get("throttle")):
            body = '{"message":"Internal Server Error"}'
            return {"statusCode": 500, "headers": {"Content-Type": "application/json"}, "body": body}, None
        return convert(result)

    gateway._invoke_lambda_proxy = invoke_bounded
    lambda_service.lambda_execute_result_to_api_proxy_response = convert_failures
