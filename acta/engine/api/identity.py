"""Who is calling: from the claims the gateway's JWT authorizer verified, from nothing else (docs/design/api.md 10).

The gateway hands every claim over as text, so a tenant that is `true` in the token arrives as the name `true`. What
type a claim has stands in the token alone. It is read for that, and can only refuse.

Which route needs which role: `acta/engine/api/operations.py`.
"""

import base64
import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from acta.engine.api.operation import Role
from acta.engine.api.role_claims import RoleRules, roles_from
from acta.engine.bound_tenant import TENANT_PATTERN
from acta.engine.errors import Forbidden, Unauthorized
from acta.engine.settings import Settings
from acta.engine.untrusted.exact_json import value_at

MAX_CHARS = 128


class Caller(NamedTuple):
    """`roles` as granted; `admin` implies `member`. `decides`: False for a program where the environment leaves
    decisions to people (`Settings.programs_decide`).
    """

    tenant: str
    user: str
    roles: frozenset[str]
    decides: bool = True

    def require(self, role: Role) -> None:
        """Raises Forbidden where the role is missing."""
        if role not in self.roles and "admin" not in self.roles:
            raise Forbidden(f"This needs the role {role}.", {"role": [role]})


def from_event(event: Mapping[str, Any], settings: Settings) -> Caller:
    """Raises Unauthorized where nobody is named, Forbidden where that person belongs to no usable tenant."""
    claims = _claims(event)
    if claims is None:
        raise Unauthorized("This needs a bearer token.")
    token = _token(event)
    typed = claims if token is None else token
    user = claims.get("sub")
    if not isinstance(user, str) or not user.strip() or len(user) > MAX_CHARS or not user.isprintable():
        raise Unauthorized("The token names no usable subject.")
    if typed.get("sub") != user:
        raise Unauthorized("The token's subject is no text.")
    tenant_claim, roles_claim = _where(claims, settings)
    tenant = claims.get(tenant_claim)
    if not isinstance(tenant, str) or not tenant.strip():
        raise Forbidden("The token names no tenant.")
    if not re.fullmatch(TENANT_PATTERN, tenant):
        raise Forbidden("The token's tenant has characters or a length that are not allowed.")
    if typed.get(tenant_claim) != tenant:
        raise Forbidden("The token's tenant is no text.")
    rules = RoleRules(settings.role_map, settings.roles_have_no_spaces, settings.roles_are_json)
    decides = settings.programs_decide or not is_program(claims)
    roles = typed.get(roles_claim)
    are_names = all(isinstance(each, str) for each in (roles if isinstance(roles, list) else [roles]))
    granted = roles_from(claims.get(roles_claim), rules) if are_names else frozenset[str]()
    return Caller(tenant, user, granted, decides)


def _token(event: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The claims with their types. None for a request that another one contains: its token was looked at with that one.
    Raises Unauthorized where they cannot be read.
    """
    headers = event.get("headers") or {}
    sent = next((str(value) for name, value in headers.items() if name.lower() == "authorization"), None)
    if sent is None:
        return None
    try:
        _, payload, _ = sent.rpartition(" ")[2].split(".")
        claims = json.loads(base64.urlsafe_b64decode(payload + "=="))
    except (ValueError, RecursionError):
        claims = None
    if not isinstance(claims, dict):
        raise Unauthorized("The token cannot be read.")
    return claims


def claimed(event: Mapping[str, Any], settings: Settings) -> tuple[str, str]:
    """Tenant and subject as the verified token has them, whether they are usable or not; empty where it has none."""
    claims = _claims(event) or {}
    tenant_claim, _ = _where(claims, settings)
    found = (claims.get(name) for name in (tenant_claim, "sub"))
    tenant, user = (each if isinstance(each, str) else "" for each in found)
    return tenant, user


def is_program(claims: Mapping[str, Any]) -> bool:
    """Whether the token comes from client credentials: its subject is the client (RFC 9068 2.2), or the issuer says so
    in its own way, as Auth0 (`gty`) and Entra (`idtyp`) do.
    """
    clients = (claims.get(name) for name in ("client_id", "azp", "cid", "appid"))
    if any(isinstance(each, str) and each == claims.get("sub") for each in clients):
        return True
    return claims.get("gty") == "client-credentials" or claims.get("idtyp") == "app"


def _where(claims: Mapping[str, Any], settings: Settings) -> tuple[str, str]:
    """The names of the claims that hold the tenant and the roles of this token.

    A token without a tenant, whose subject is a client, uses the machine's claims. No person's token has them (ADR
    81); if one had, they would count for nothing, because a person's subject is never a client.
    """
    is_machines = isinstance(claims.get("client_id"), str) and claims["client_id"] == claims.get("sub")
    if settings.machine_tenant_claim and is_machines and settings.tenant_claim not in claims:
        return settings.machine_tenant_claim, settings.machine_roles_claim
    return settings.tenant_claim, settings.roles_claim


def _claims(event: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """`requestContext.authorizer.jwt.claims`; None where a route without an authorizer was called."""
    found = value_at(event, "requestContext", "authorizer", "jwt", "claims")
    return found if isinstance(found, Mapping) and found else None
