"""Runs a deployment's recovery function, `recover`, over the AWS API, outside its schedule of once a minute.

Requests and answers are those of `acta/engine/recovery/recovery.py`.
"""

import json
from collections.abc import Mapping
from typing import Any

from acta.engine.aws.clients import Service
from acta.engine.aws.errors import NOT_FOUND, AwsRefused
from acta.infra.deployed.account import AWS_ERRORS, Account
from acta.infra.names import ALIAS, function_name

READ_SECONDS = 90
"""How long an answer is waited for: longer than the function may run (`acta/infra/sizing.py`)."""
ATTEMPTS = 3
"""For when Lambda throttles or does not answer. A request that is sent twice is carried out once."""
ALL_SESSIONS: Mapping[str, Any] = {"repair": True}
"""The request to look at every session, however young."""


class RecoveryFailed(RuntimeError):
    """The function could not be called, or it failed; the message is one line for a person, without values."""


def lambda_client(account: Account) -> Any:
    return account.client("lambda", read_seconds=READ_SECONDS, attempts=ATTEMPTS)


def run_recovery(
    client: Any, environment: str, request: Mapping[str, Any], *, wait: bool = True
) -> Mapping[str, Any]:
    """Runs the function and returns its answer; `wait` False: an empty one, at once. Raises RecoveryFailed."""
    function = function_name(environment, "recover")
    try:
        answer = Service("lambda", client).call(
            "invoke",
            FunctionName=function,
            Qualifier=ALIAS,
            InvocationType="RequestResponse" if wait else "Event",
            Payload=json.dumps(request).encode(),
        )
    except AwsRefused as refused:
        if refused.code == NOT_FOUND:
            raise RecoveryFailed(
                f"there is no function {function} in this account and region: deploy {environment}, or name another "
                "environment"
            ) from None
        raise RecoveryFailed(f"{function}: {refused.code}") from None
    except AWS_ERRORS as error:
        raise RecoveryFailed(f"{function}: {error}") from None
    payload: Mapping[str, Any] = json.loads(answer["Payload"].read() or b"{}")
    if "FunctionError" in answer:
        kind = payload.get("errorType", "an error")
        raise RecoveryFailed(f"{function} failed with {kind}; see its log")
    return payload
