"""Values of tenants' secrets, those of tools and that of notifications, in Secrets Manager (ADR 51, 68).

A secret of a tool is called `acta/<env>/tools/<tenant>/<name>`, that of notifications
`acta/<env>/notify/<tenant>/webhook`. It is asked for with credentials of the bound tenant that reach its own secrets
alone. No error has a secret's name or value: AWS's messages may.

Source: Secrets Manager API Reference, PutSecretValue, CreateSecret, DeleteSecret.
"""

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from acta.engine.aws.clients import Service
from acta.engine.aws.errors import NOT_FOUND, AwsRefused
from acta.engine.bound_tenant import bound
from acta.engine.errors import AwsDenied, StoreUnavailable
from acta.engine.store.keys import tool_secrets_prefix
from acta.engine.tools.tool import is_usable_value

CACHE_SECONDS = 60
"""How long a value is used that was replaced or deleted meanwhile in Secrets Manager itself. What the API replaces or
deletes is no longer used by the next call, which asks the table when the secret was set."""
KEPT = 200
EXISTS = "ResourceExistsException"
BEING_DELETED = "InvalidRequestException"
"""A secret that is deleted for good is still there for some seconds."""


Prefix = Callable[[str, str], str]
"""From an environment and a tenant to how the names of secrets begin."""


class SecretUnusable(Exception):
    """The secret's value cannot be a header's value, so somebody else than Acta stored it."""


class ToolSecretStore:
    """ToolSecretValues. `key`: the ARN of the KMS key for new secrets; empty: AWS's own. `client`: a botocore Secrets
    Manager client, where it is not this process's own. `prefix`: of the secrets' names.
    """

    def __init__(
        self, environment: str, key: str = "", client: Any = None, prefix: Prefix = tool_secrets_prefix
    ) -> None:
        self._environment = environment
        self._prefix = prefix
        self._key = {"KmsKeyId": key} if key else {}
        self._secretsmanager = Service("secretsmanager", client)

    def put(self, tenant: str, name: str, value: str) -> None:
        secret, asked = self._prefix(self._environment, tenant) + name, self._secretsmanager
        if _ask(asked, "put_secret_value", NOT_FOUND, SecretId=secret, SecretString=value) is not None:
            return
        made = _ask(asked, "create_secret", EXISTS, Name=secret, SecretString=value, **self._key)
        if made is None:  # another request was faster; the later one counts
            _ask(asked, "put_secret_value", SecretId=secret, SecretString=value)

    def delete(self, tenant: str, name: str) -> None:
        secret, asked = self._prefix(self._environment, tenant) + name, self._secretsmanager
        _ask(asked, "delete_secret", NOT_FOUND, SecretId=secret, ForceDeleteWithoutRecovery=True)


class ToolSecretReader:
    """Reads values for calls and keeps each for a minute. `now`: a clock in seconds."""

    def __init__(
        self, environment: str, client: Any = None, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._environment = environment
        self._secretsmanager = Service("secretsmanager", client)
        self._now = now
        self._kept: OrderedDict[tuple[str | None, str], tuple[str, float, str]] = OrderedDict()

    def __call__(self, tenant: str, name: str, set_at: str = "") -> str | None:
        """The secret's value; None: there is none. Only values are cached, so a secret that is set now is there for the
        next call. `set_at`: a value that is cached for another time is forgotten: it may be for other hosts.

        Raises AwsDenied, StoreThrottled, StoreUnavailable, SecretUnusable.
        """
        binding = bound()
        # The bound tenant is part of the key: whichever tenant the caller names, no other tenant's value is found.
        key = (
            None if binding is None else binding.tenant,
            tool_secrets_prefix(self._environment, tenant) + name,
        )
        kept = self._kept.pop(key, None)
        if kept is not None and kept[0] == set_at and 0 <= self._now() - kept[1] < CACHE_SECONDS:
            self._kept[key] = kept
            return kept[2]
        answer = _ask(self._secretsmanager, "get_secret_value", NOT_FOUND, BEING_DELETED, SecretId=key[1])
        if answer is None:
            return None
        value = str(answer.get("SecretString", "")).strip()
        if not is_usable_value(value):
            raise SecretUnusable
        self._kept[key] = (set_at, self._now(), value)
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return value


def _ask(secretsmanager: Service, operation: str, *expected: str, **parameters: Any) -> Any:
    """The answer; None: AWS refused with one of the codes that are expected. After another code sessions wait until an
    operator mends its cause, such as a disabled KMS key. No error has AWS's message, which may name the secret.
    """
    try:
        return secretsmanager.call(operation, **parameters)
    except AwsDenied as denied:
        raise AwsDenied(str(denied)) from None
    except AwsRefused as refused:
        if refused.code in expected:
            return None
        kind = StoreUnavailable if refused.code == BEING_DELETED else AwsDenied
        raise kind(f"{operation}: {refused.code}") from None
