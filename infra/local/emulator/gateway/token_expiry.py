"""The JWT authorizer refuses a token without a numeric `exp`: 401, with the gateway's own body.

Source: API Gateway developer guide, "Control access to HTTP APIs with JWT authorizers": `exp` is validated
and must be after the current time. Patches: `services.apigateway._validate_jwt_authorizer`.
"""

from __future__ import annotations

from typing import Any

from infra.local.emulator.settings import Settings
from infra.local.emulator.upstream import module


def apply(settings: Settings) -> None:
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
