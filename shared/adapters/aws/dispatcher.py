"""Has `recover` look after the line of a provider at once, and not at the next minute (ADR 106)."""

import json
from contextlib import suppress
from typing import Any

from shared.adapters.aws.clients import Service
from shared.adapters.aws.errors import AwsRefused
from shared.domain.errors import TransientError

ADMIT = {"admit": True}


def call_dispatcher(function: str, client: Any = None) -> None:
    """Does not wait for what comes of it: what fails, the next minute's call makes good. `function`: with its alias;
    empty: nobody is called. `client`: a botocore Lambda client, where it is not this process's own.
    """
    if not function:
        return
    with suppress(TransientError, AwsRefused):
        Service("lambda", client).call(
            "invoke", FunctionName=function, InvocationType="Event", Payload=json.dumps(ADMIT).encode()
        )
