"""Names of deployed things that more than one file has to know. `environment` is the environment's name.

Nothing here imports CDK. A changed name makes CloudFormation replace the thing, and what it holds is lost.
"""

from collections.abc import Mapping
from typing import Any

from acta.engine.models.providers import WITH_KEY
from acta.engine.tools.tool import function_prefix
from acta.infra.sizing import FunctionName

LIVE_INDEX, OPEN_INDEX = "live", "open"
"""The table's indexes: of sessions that have work to do or wait for someone, and of what a tenant has open."""

READS_VERSION = "ReadsVersion"
"""The output of the stack that a release replaces: the newest schema version that its functions know."""
DECIDED = "Decided"
"""The output of that stack with what the operator has decided about the posture, as JSON."""


def stateful_stack(environment: str) -> str:
    """The stack with the table, the files, the model keys and the users."""
    return f"Acta-{environment}-Stateful"


def sessions_stack(environment: str) -> str:
    """The stack with the texts of sessions and the audit trail."""
    return f"Acta-{environment}-Sessions"


def stateless_stack(environment: str) -> str:
    """The stack that a release replaces."""
    return f"Acta-{environment}-Stateless"


def edge_stack(environment: str) -> str:
    """The stack with CloudFront, in a region of its own."""
    return f"Acta-{environment}-Edge"


def function_name(environment: str, function: FunctionName) -> str:
    return f"acta-{environment}-{function}"


def called_name(environment: str, function: FunctionName) -> str:
    """The function's name with its alias, by which other functions invoke it."""
    return f"{function_name(environment, function)}:{ALIAS}"


def tenant_functions(environment: str) -> str:
    """Names that the functions of tenants' tools must have. No function of Acta has such a name."""
    return f"{function_prefix(environment)}*"


def service_name(function: FunctionName) -> str:
    """The name under which a function writes its logs and metrics."""
    return f"acta-{function}"


def metrics_namespace(environment: str) -> str:
    return f"Acta/{environment}"


def machine_name(environment: str) -> str:
    return f"acta-{environment}"


ORIGIN, NOTIFICATIONS, AUDIT, URL_KEY = "origin", "notifications", "audit", "wake"
"""Names of secrets: what CloudFront adds to requests, which an operator creates in us-east-1; the key that signs
notifications to a webhook; the key of the audit trail's pseudonyms; and the key that URLs are signed with."""


def secret_name(environment: str, of: str) -> str:
    """`of`: the model provider whose key the secret holds, or one of the names above."""
    return f"acta/{environment}/{of}"


def key_secrets(environment: str, own: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Model provider -> the name of the secret that holds its key in AWS. `own`: `providers` of the environment."""
    named = {name: each.get("secret") for name, each in own.items()}
    return {
        **{each.name: secret_name(environment, each.name) for each in WITH_KEY},
        **{
            name: secret if isinstance(secret, str) else secret_name(environment, name)
            for name, secret in named.items()
            if secret
        },
    }


def usual_key_secret(environment: str) -> str:
    """The secret of the provider that is asked first where nothing names one."""
    return secret_name(environment, WITH_KEY[0].name)


def notification_secrets(environment: str) -> str:
    """Names of the secrets that notifications to tenants' webhooks are signed with."""
    return f"acta/{environment}/notify/*"


def tool_secrets(environment: str) -> str:
    """Names of the secrets of tenants' tools, which their admins set (`acta/engine/store/keys.py`)."""
    return f"acta/{environment}/tools/*"


def own_tool_function(environment: str, folder: str) -> str:
    """The function of a folder of Python tools. Its name begins as those of tenants' tool functions do."""
    return f"{function_prefix(environment)}{folder}"


def own_tool_secret(environment: str, folder: str, name: str) -> str:
    """A secret of a folder of Python tools."""
    return f"acta/{environment}/tool-{folder}/{name}"


ALIAS = "live"
"""Every function is called under this name: by the API, the state machine, streams, queues, rules and operators. It
names the version in use (`acta/infra/deployed/releases.py`)."""
