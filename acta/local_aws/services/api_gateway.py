"""The HTTP API's address, what it tells a function of a request, and its own answers: a token without `exp` is refused,
a route is asked too often, and a failed integration says nothing of itself.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

from acta.local_aws.loopback import HOST
from acta.local_aws.ministack import module
from acta.local_aws.reverse_proxy import passes_as_text
from acta.local_aws.settings import Settings

INTEGRATION_SECONDS = 30.0
"""Source: API Gateway developer guide, "Quotas for HTTP APIs": maximum integration timeout."""

# The converter is shared with REST APIs, whose failures look different.
_http_api: ContextVar[bool] = ContextVar("http_api", default=False)


def tell_text_from_bytes(settings: Settings) -> None:
    """As `reverse_proxy.passes_as_text` says. Patches: `services.apigateway._v2_request_body_is_text`."""
    module("services.apigateway")._v2_request_body_is_text = passes_as_text


def require_expiry(settings: Settings) -> None:
    """The JWT authorizer refuses a token without a numeric `exp`: 401, with the gateway's own body. A claim that is
    null is not handed over.

    Source: API Gateway developer guide, "Control access to HTTP APIs with JWT authorizers": `exp` is validated
    and must be after the current time. Null claims: measured, floci-io/floci#2011. Patches:
    `services.apigateway._validate_jwt_authorizer`.
    """
    gateway = module("services.apigateway")
    validate = gateway._validate_jwt_authorizer

    async def validate_with_expiry(*arguments: Any, **named: Any) -> tuple[Any, Any, Any]:
        refused = (None, None, gateway._jwt_unauthorized())
        try:
            claims, scopes, refusal = await validate(*arguments, **named)
        except (TypeError, ValueError, AttributeError, OverflowError):  # a claim of the wrong type
            return refused
        if refusal is None:
            expiry = claims.get("exp")
            if isinstance(expiry, bool) or not isinstance(expiry, int | float):
                return refused
            claims = {name: value for name, value in claims.items() if value is not None}
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


class Bucket:
    """`burst` requests at once, `rate` a second after that."""

    def __init__(self, rate: float, burst: float) -> None:
        self.limits = (rate, burst)
        self._left = burst
        self._at = time.monotonic()

    def take(self) -> bool:
        rate, burst = self.limits
        now = time.monotonic()
        self._left = min(burst, self._left + (now - self._at) * rate)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


def throttle_routes(settings: Settings) -> None:
    """429 for a request beyond the rate of its route, before a token is looked at. The stage's default settings are
    each route's, where it has none of its own.

    Source: API Gateway developer guide, "Throttle requests to your HTTP APIs for better throughput". Patches:
    `services.apigateway._handle_execute_in_scope`.
    """
    gateway = module("services.apigateway")
    execute = gateway._handle_execute_in_scope
    buckets: dict[tuple[str, str, str], Bucket] = {}

    def is_too_often(api_id: str, stage: str, path: str, method: str) -> bool:
        deployed = gateway._stages.get(api_id, {}).get(stage)
        route = gateway._match_route(api_id, method, "/" + path.lstrip("/"))
        if deployed is None or route is None or method == "OPTIONS":
            return False
        key = str(route["routeKey"])
        own = (deployed.get("routeSettings") or {}).get(key)
        limits = _limits(deployed.get("defaultRouteSettings") or {} if own is None else own)
        if limits is None:
            return False
        bucket = buckets.get((api_id, stage, key))
        if bucket is None or bucket.limits != limits:
            bucket = buckets[api_id, stage, key] = Bucket(*limits)
        return not bucket.take()

    async def execute_in_time(
        api_id: str, stage: str, path: str, method: str, *more: Any, **named: Any
    ) -> Any:
        if is_too_often(api_id, stage, path, method):
            return 429, {"Content-Type": "application/json"}, b'{"message":"Too Many Requests"}'
        return await execute(api_id, stage, path, method, *more, **named)

    gateway._handle_execute_in_scope = execute_in_time


def answer_pages(settings: Settings) -> None:
    """The API's CORS configuration holds as a template has it: ministack reads the names of the API alone.

    Source: API Gateway developer guide, "Configure CORS for HTTP APIs". Patches:
    `services.apigateway._cors_response_headers`, `services.apigateway._cors_preflight_response`.
    """
    gateway = module("services.apigateway")
    headers, preflight = gateway._cors_response_headers, gateway._cors_preflight_response
    gateway._cors_response_headers = lambda configured, origin: headers(_named(configured), origin)
    gateway._cors_preflight_response = lambda configured, origin: preflight(_named(configured), origin)


def tell_a_reachable_address(settings: Settings) -> None:
    """The attribute `ApiEndpoint` of a template's HTTP API is a URL that programs of this machine reach. The host in
    ministack's, `ID.execute-api.localhost`, is one that few systems resolve.

    Source: CloudFormation reference, AWS::ApiGatewayV2::Api, return values: "The default endpoint for an API". Patches:
    `services.cloudformation.provisioners._RESOURCE_HANDLERS`.
    """
    handlers = module("services.cloudformation.provisioners")._RESOURCE_HANDLERS["AWS::ApiGatewayV2::Api"]
    apis = module("services.apigateway")._apis
    create = handlers["create"]

    def create_reachable(*arguments: Any, **named: Any) -> tuple[str, dict[str, Any]]:
        api_id, attributes = create(*arguments, **named)
        if apis[api_id]["protocolType"] == "HTTP":
            url = f"http://{HOST}:{settings.port}/_aws/execute-api/{api_id}/$default"
            apis[api_id]["apiEndpoint"] = attributes["ApiEndpoint"] = url
        return api_id, attributes

    handlers["create"] = create_reachable


def _named(given: Mapping[str, Any]) -> dict[str, Any]:
    """A template's names begin with a capital letter, the API's do not."""
    return {name[:1].lower() + name[1:]: value for name, value in given.items()}


def _limits(given: Mapping[str, Any]) -> tuple[float, float] | None:
    """Rate and burst. None: no limit."""
    named = _named(given)
    try:
        return float(named["throttlingRateLimit"]), float(named["throttlingBurstLimit"])
    except (KeyError, TypeError, ValueError):
        return None
