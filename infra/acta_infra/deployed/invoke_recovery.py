"""Runs a deployment's recovery function, `recover`, over the AWS API, outside its schedule of once a minute.

Requests and answers are those of `shared/acta_engine/recovery/recovery.py`.
"""

import json
from collections.abc import Mapping
from typing import Any

from acta_engine.aws.errors import NOT_FOUND
from acta_infra.deployed.account import Account
from acta_infra.names import ALIAS, function_name

READ_SECONDS = 90
"""How long an answer is waited for: longer than the function may run (`infra/acta_infra/sizing.py`)."""
ATTEMPTS = 3
"""Where Lambda throttles or does not answer. What is asked twice is done once."""
ALL_SESSIONS: Mapping[str, Any] = {"repair": True}
"""The request to look at every session, however young."""


class RecoveryFailed(RuntimeError):
    """The function could not be called, or it failed; the message is one line for a person, without values."""


def lambda_client(account: Account) -> Any:
    return account.client("lambda", read_seconds=READ_SECONDS, attempts=ATTEMPTS)


def recovery_function(environment: str) -> str:
    return function_name(environment, "recover")


def run_recovery(client: Any, environment: str, request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Waits for the function and returns its answer. Raises RecoveryFailed."""
    answer = _invoke(client, environment, "RequestResponse", request)
    payload: Mapping[str, Any] = json.loads(answer["Payload"].read() or b"{}")
    if "FunctionError" in answer:
        kind = payload.get("errorType", "an error")
        raise RecoveryFailed(f"{recovery_function(environment)} failed with {kind}; see its log")
    return payload


def start_recovery(client: Any, environment: str, request: Mapping[str, Any]) -> None:
    """Starts the function and does not wait for its answer. Raises RecoveryFailed."""
    _invoke(client, environment, "Event", request)


def _invoke(client: Any, environment: str, kind: str, request: Mapping[str, Any]) -> Mapping[str, Any]:
    from botocore.exceptions import BotoCoreError, ClientError

    function = recovery_function(environment)
    try:
        answer: Mapping[str, Any] = client.invoke(
            FunctionName=function, Qualifier=ALIAS, InvocationType=kind, Payload=json.dumps(request).encode()
        )
    except ClientError as error:
        if error.response["Error"]["Code"] == NOT_FOUND:
            raise RecoveryFailed(
                f"there is no function {function} in this account and region: deploy {environment}, or name another "
                "environment"
            ) from None
        raise RecoveryFailed(f"{function}: {error.response['Error']['Code']}") from None
    except BotoCoreError as error:
        raise RecoveryFailed(f"{function}: {error}") from None
    return answer
