"""Secrets of a folder of tools: texts in Secrets Manager that only the folder's role may read.

The Lambda's variable `ACTA_TOOL_SECRETS` is a JSON object: for the name of each secret, its name in Secrets Manager. No
value is ever in a variable.
"""

import json
import time
from collections.abc import Callable, Mapping
from typing import Any

from acta.tools.call import SecretMissing, no_secrets

VARIABLE = "ACTA_TOOL_SECRETS"
NOT_THERE = ("ResourceNotFoundException", "AccessDeniedException")
"""AWS answers the second one for a missing secret if a role may read it only by its whole ARN."""
KEPT_SECONDS = 60.0
"""Seconds for which a value is kept, so a changed value is in force after at most this time."""


def _client() -> Any:
    import boto3  # the Lambda runtime has it; a tool without secrets does not load it

    return boto3.client("secretsmanager")


class Secrets:
    """`variables`: those of the process. `client`: makes a boto3 client. `clock`: seconds."""

    def __init__(
        self,
        variables: Mapping[str, str],
        client: Callable[[], Any] = _client,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._names: Mapping[str, str] = json.loads(variables.get(VARIABLE, "{}"))
        self._client = client
        self._clock = clock
        self._made: Any = None
        self._kept: dict[str, tuple[float, str]] = {}

    def read(self, name: str) -> str:
        """The secret's value. Raises SecretMissing, and botocore's errors if Secrets Manager cannot be reached."""
        if name not in self._names:
            no_secrets(name)
        read_at, value = self._kept.get(name, (0.0, ""))
        if name not in self._kept or self._clock() - read_at >= KEPT_SECONDS:
            value = self._fetch(self._names[name])
            self._kept[name] = (self._clock(), value)
        return value

    def _fetch(self, full_name: str) -> str:
        if self._made is None:
            self._made = self._client()
        try:
            text: str = self._made.get_secret_value(SecretId=full_name)["SecretString"]
        except self._made.exceptions.ClientError as refused:
            if refused.response["Error"]["Code"] not in NOT_THERE:
                raise
            raise SecretMissing(
                f"the secret {full_name} has no value. An operator sets one in AWS Secrets Manager under this name; it "
                "holds from the next call on."
            ) from None
        return text
