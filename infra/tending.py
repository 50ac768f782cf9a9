"""Asks a deployment's `tend` to look after its sessions, over the AWS API (words: `functions/tend/handler.py`)."""

import json
from collections.abc import Mapping
from typing import Any

from shared.adapters.aws.clients import make_client

ANSWERS_WITHIN_SECONDS = 90
"""Longer than the function runs."""
EVERYTHING: Mapping[str, Any] = {"repair": True}


class TendFailed(RuntimeError):
    """The function could not be asked, or failed; the message is one line for a person, without values."""


def local_client(endpoint_url: str) -> Any:
    return make_client(
        "lambda",
        read_seconds=ANSWERS_WITHIN_SECONDS,
        attempts=1,
        endpoint_url=endpoint_url,
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )


def account_client() -> Any:
    """Account, region and credentials are those of the caller's AWS environment. Raises TendFailed."""
    from botocore.exceptions import BotoCoreError

    try:
        return make_client("lambda", read_seconds=ANSWERS_WITHIN_SECONDS, attempts=1)
    except BotoCoreError as error:
        raise TendFailed(str(error)) from None


def ask(client: Any, environment: str, request: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the function answered. Raises TendFailed."""
    answer = _invoke(client, environment, "RequestResponse", request)
    payload: Mapping[str, Any] = json.loads(answer["Payload"].read() or b"{}")
    if "FunctionError" in answer:
        kind = payload.get("errorType", "an error")
        raise TendFailed(f"{name(environment)} failed with {kind}; its log says more")
    return payload


def tell(client: Any, environment: str, request: Mapping[str, Any]) -> None:
    """As `ask`, without waiting for the answer. Raises TendFailed."""
    _invoke(client, environment, "Event", request)


def name(environment: str) -> str:
    return f"acta-{environment}-tend"


def _invoke(client: Any, environment: str, kind: str, request: Mapping[str, Any]) -> Mapping[str, Any]:
    from botocore.exceptions import BotoCoreError, ClientError

    function = name(environment)
    try:
        answer: Mapping[str, Any] = client.invoke(
            FunctionName=function, InvocationType=kind, Payload=json.dumps(request).encode()
        )
    except ClientError as error:
        raise TendFailed(f"{function}: {error.response['Error']['Code']}") from None
    except BotoCoreError as error:
        raise TendFailed(f"{function}: {error}") from None
    return answer
