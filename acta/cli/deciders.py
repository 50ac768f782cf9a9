"""Who may decide an intervention that needs a role, and how they do it from the command line."""

import base64
import json
from collections.abc import Iterator, Mapping
from typing import Any

from acta.cli.client import Client
from acta.cli.hints import Invocation, deciding_lines
from acta.cli.text import visible


def lacks_role(client: Client, intervention: Mapping[str, Any]) -> bool:
    """Only where it is known before asking: which claim holds the roles is an identity provider's choice, and the
    local stack's issuer is the one known here. Elsewhere the deployment's answer tells.
    """
    role = intervention.get("role")
    roles = local_claims(client).get("roles")
    if not role or not isinstance(roles, list):
        return False
    return role not in roles and not (role == "member" and "admin" in roles)


def role_lines(
    client: Client, invocation: Invocation, session_id: str, intervention: Mapping[str, Any]
) -> Iterator[str]:
    role = intervention.get("role")
    if not role:
        yield "your token does not allow to decide this; with another one, decide with one of:"
    else:
        shown = visible(str(role), keep_newlines=False)
        yield f"only somebody with the role {shown} decides this; with a token of theirs, one of:"
    options = invocation.options
    given = options if "--token" in options else (*options, "--token", "TOKEN")
    for line in deciding_lines(Invocation(invocation.program, given), session_id, intervention):
        yield f"  {line}"
    tenant = local_claims(client).get("tenant")
    if role and tenant:
        at = options.index("--state") if "--state" in options else len(options)
        issuing = Invocation(invocation.program, options[at : at + 2])
        yield "a token of the local stack with that role:"
        yield f"  {issuing.line('token', '--tenant', str(tenant), '--user', 'USER', '--role', str(role))}"


def local_claims(client: Client) -> Mapping[str, Any]:
    """Of a token that the local stack itself issued, whose issuer is the API's own URL; else nothing."""
    parts = client.http.headers.get("Authorization", "").removeprefix("Bearer ").split(".")
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (IndexError, ValueError):
        return {}
    return claims if isinstance(claims, dict) and claims.get("iss") == client.url else {}
