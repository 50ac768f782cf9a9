"""The HTTP API's own answers: a token without `exp` is refused, and a failed integration says nothing of itself."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from typing import Any

from infra.local.emulator.ministack import module
from infra.local.emulator.settings import Settings

INTEGRATION_SECONDS = 30.0
"""Source: API Gateway developer guide, "Quotas for HTTP APIs": maximum integration timeout."""

# The converter is shared with REST APIs, whose failures look different.
_http_api: ContextVar[bool] = ContextVar("http_api", default=False)


def require_expiry(settings: Settings) -> None:
    """The JWT authorizer refuses a token without a numeric `exp`: 401, with the gateway's own body.

    Source: API Gateway developer guide, "Control access to HTTP APIs with JWT authorizers": `exp` is validated
    and must be after the current time. Patches: `services.apigateway._validate_jwt_authorizer`.
    """
    gateway = module("services.apigateway")
    validate = gateway._validate_jwt_authorizer

    async def validate_with_expiry(*arguments: Any, **named: Any) -> tuple[Any, Any, Any]:
        refused = (None, None, gateway._jwt_unauthorized())
        try:
            claims, scopes, refusal = await validate(*arguments, **named)
        except (TypeError, ValueError, AttributeError):  # a claim of the wrong type
            return refused
        if refusal is None:
            expiry = claims.get("exp")
            if isinstance(expiry, bool) or not isinstance(expiry, int | float):
                return refused
        return claims, scopes, refusal

    gateway._validate_jwt_authorizer = validate_with_expiry


def answer_failures(settings: Settings) -> None:
    """500 `{"message":"Internal Server Error"}` for a failed Lambda, 503 for one that takes over 30 seconds.

    Source: API Gateway developer guide, "Troubleshooting HTTP API Lambda integrations". Patches:
    `services.apigateway._invoke_lambda_proxy`,
    `services.lambda_svc.lambda_execute_result_to_api_proxy_response`.
    """
    gateway = module("services.apigateway")
    lambda_service = module("services.lambda_svc")
    invoke = gateway._invoke_lambda_proxy
    convert = lambda_service.lambda_execute_result_to_api_proxy_response

    async def invoke_bounded(*arguments: Any, **named: Any) -> Any:
        _http_api.set(True)
        call = asyncio.create_task(invoke(*arguments, **named))
        done, _ = await asyncio.wait({call}, timeout=INTEGRATION_SECONDS)
        if not done:  # the function runs on, as on AWS; nobody reads its answer any more
            return 503, {"Content-Type": "application/json"}, b'{"message":"Service Unavailable"}'
        return call.result()

    def convert_failures(result: dict[str, Any]) -> Any:
        if _http_api.get() and (result.get("error") or result.get("throttle")):
            body = '{"message":"Internal Server Error"}'
            return {"statusCode": 500, "headers": {"Content-Type": "application/json"}, "body": body}, None
        return convert(result)

    gateway._invoke_lambda_proxy = invoke_bounded
    lambda_service.lambda_execute_result_to_api_proxy_response = convert_failures
