"""The trigger of the own pool: tokens of machine clients name their tenant and roles (ADR 81).

In claims of their own: Cognito puts `cognito:groups` and `custom:` into tokens of users alone. A person's token never
has them: an attribute has a standard name or one that begins with `custom:`, whoever writes it, and nothing else than
this trigger adds a claim. Source: Amazon Cognito developer guide, "Claims and scopes reference", "User attributes".

Deployed as it stands here, so it imports the standard library alone. MACHINES: name -> {"tenant", "roles"}. Which
machine asks is told by its scope, `acta/<name>`, which the pool grants to that one client. Source: Amazon Cognito
developer guide, "Pre token generation Lambda trigger", event version 3.
"""

import json
import os
from typing import Any

MACHINES = "MACHINES"
SCOPE = "acta/"
TENANT_CLAIM, ROLES_CLAIM = "acta_tenant", "acta_roles"


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Leaves tokens of people as they are. Raises ValueError, and no token is made, for a machine that is not known."""
    if event["triggerSource"] != "TokenGeneration_ClientCredentials":
        return event
    known = json.loads(os.environ[MACHINES])
    names = [scope[len(SCOPE) :] for scope in event["request"]["scopes"] if scope.startswith(SCOPE)]
    if len(names) != 1 or names[0] not in known:
        raise ValueError("the scopes name no machine")
    machine = known[names[0]]
    event["response"] = {
        "claimsAndScopeOverrideDetails": {
            "accessTokenGeneration": {
                "claimsToAddOrOverride": {
                    TENANT_CLAIM: machine["tenant"],
                    ROLES_CLAIM: machine["roles"],
                }
            }
        }
    }
    return event
