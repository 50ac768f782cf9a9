"""The commands that decide an intervention, ready to be typed, and who may type them."""

import base64
import json
from collections.abc import Iterator, Mapping
from typing import Any

from acta.cli.connection import Invocation
from acta.cli.terminal.text import visible
from acta.client.api import Client

INPUTS = {"answer": '{"text": "TEXT"}', "modify": '{"input": {}}', "record": '{"result": "TEXT"}'}
"""The input of an option that needs one (docs/design/people.md 3). The person replaces what is in capitals."""
LIMITS = {"token_budget": "--token-budget", "cost_budget_usd": "--cost-budget"}
"""The limits that `raise` takes, and their options on the command line."""


def deciding_lines(invocation: Invocation, session_id: str, intervention: Mapping[str, Any]) -> Iterator[str]:
    """One command for each option of the intervention."""
    identity = str(intervention.get("intervention_id"))
    for option in map(str, intervention.get("options") or []):
        given: list[str] = []
        if option == "raise":
            for limit, needed in needed_limits(intervention).items():
                given += [LIMITS[limit], str(needed)]
            given = given or [LIMITS["token_budget"], "N"]
        yield deciding_line(invocation, session_id, identity, option, *given)


def needed_limits(intervention: Mapping[str, Any]) -> dict[str, float]:
    """The limits that are too low for the next call, each with what the call needs. Empty: that is not known."""
    context = intervention.get("context") or {}
    known = {limit: context.get(f"{limit}_needed") for limit in LIMITS}
    return {limit: needed for limit, needed in known.items() if isinstance(needed, int | float)}


def deciding_line(
    invocation: Invocation, session_id: str, intervention_id: str, option: str, *limits: str
) -> str:
    """`limits`: the options of `raise`."""
    if option in ("approve", "reject", "finish", "raise"):
        return invocation.line(option, session_id, intervention_id, *limits)
    if option == "answer":
        return invocation.line(option, session_id, "TEXT")
    given = ["--input", INPUTS[option]] if option in INPUTS else []
    return invocation.line("resolve", session_id, intervention_id, option, *given)


def lacks_role(client: Client, intervention: Mapping[str, Any]) -> bool:
    """The client's token is known not to have the role that the intervention needs.

    That is known for a token of the local stack alone. Which claim of another token holds the roles is its identity
    provider's choice; there the deployment's answer shows it.
    """
    role = intervention.get("role")
    roles = _roles(local_claims(client).get("roles"))
    if not role or not isinstance(roles, list):
        return False
    return role not in roles and not (role == "member" and "admin" in roles)


def role_lines(
    client: Client, invocation: Invocation, session_id: str, intervention: Mapping[str, Any]
) -> Iterator[str]:
    """Who may decide, and how they do it; on the local stack also how to get a token with the role."""
    role = intervention.get("role")
    other = " who has not asked for it" if intervention.get("approver_must_differ") else ""
    shown = f" with the role {visible(str(role), keep_newlines=False)}" if role else ""
    if not role and not other:
        yield "your token does not allow this decision; with another token, decide with one of:"
    else:
        yield f"only somebody{shown}{other} decides this; with a token of theirs, decide with one of:"
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


def _roles(claim: object) -> object:
    """The local issuer writes a list, or a list as JSON."""
    try:
        return json.loads(claim) if isinstance(claim, str) else claim
    except ValueError:
        return None


def local_claims(client: Client) -> Mapping[str, Any]:
    """The claims of a token that the local stack issued, which the API's own URL as issuer shows; else none."""
    token = client.deployment.token
    parts = token.split(".") if isinstance(token, str) else []
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (IndexError, ValueError):
        return {}
    return claims if isinstance(claims, dict) and claims.get("iss") == client.url else {}
