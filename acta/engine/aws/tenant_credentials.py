"""AWS credentials that reach one tenant's data: the function's second role, narrowed by a session policy (ADR 48).

A function's own role has no right to any tenant's items or objects. It may assume the second one, `…-tenant`. What AWS
then allows is what both that role and the session policy allow. Source: IAM User Guide, "Policies and permissions",
session policies; "Roles terms and concepts", role chaining.
"""

import json
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any, NamedTuple

from acta.engine.aws.clients import Service
from acta.engine.aws.errors import DENIED, AwsRefused
from acta.engine.bound_tenant import Binding, bound
from acta.engine.errors import AwsDenied, SessionPolicyTooLarge
from acta.engine.store.keys import (
    FILES,
    SESSIONS,
    notification_secrets_prefix,
    tenant_pk,
    tenant_prefix,
    tool_secrets_prefix,
)
from acta.engine.telemetry import policy_packed

LIFE_SECONDS = 3_600
"""The longest that credentials last which one role gets by assuming another."""
LONGEST_INVOCATION = 960
"""Seconds; a Lambda's 900 and a little more. Credentials that an invocation begins with outlast it: what it has begun
and paid for is stored, whatever becomes of STS meanwhile.
"""
TENANTS_KEPT = 200
ABOVE_LIMIT = 101
"""Percent: what is counted where STS refuses a policy for its packed size, because a refusal does not say the size."""

Narrowed = Callable[[str, str], str]
"""From a tenant and the partition of AWS to a session policy."""


class Keys(NamedTuple):
    """What botocore signs with."""

    access_key: str
    secret_key: str
    token: str
    account_id: str | None = None


class _Kept(NamedTuple):
    """`asked`, `until`: seconds since 1970."""

    keys: Keys
    asked: float
    until: float

    def serve(self, binding: Binding) -> bool:
        """Whether they may be used. Credentials that this invocation has fetched may, however long they last."""
        return self.asked >= binding.since or self.until > binding.since + LONGEST_INVOCATION


class TenantCredentials:
    """A botocore client's credentials, chosen for every request: those of the bound tenant, or the process's `own`
    where none is bound. If the tenant's cannot be had, `own` is never used instead.

    `policy`: what the role is narrowed to. `own`: botocore's credentials.
    """

    method = "assume-role"

    def __init__(self, role_arn: str, policy: Narrowed, own: Any, sts: Service | None = None) -> None:
        self._role_arn = role_arn
        self._policy = policy
        self._own = own
        self._sts = sts or Service("sts")
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._lock = Lock()

    def get_frozen_credentials(self) -> Any:
        """Raises what `assume` raises."""
        binding = bound()
        if binding is None:
            return self._own.get_frozen_credentials()
        with self._lock:
            kept = self._kept.get(binding.tenant)
            if kept is None or not kept.serve(binding):
                kept = self._kept[binding.tenant] = self._assume(binding.tenant)
            self._kept.move_to_end(binding.tenant)
            if len(self._kept) > TENANTS_KEPT:
                self._kept.popitem(last=False)
            return kept.keys

    def get_deferred_property(self, name: str) -> Any:
        """botocore asks for the account, to address an endpoint of its own. Acta uses the region's."""
        return lambda: None

    def load_credentials(self) -> "TenantCredentials":
        """As botocore's `credential_provider`."""
        return self

    def forget_denied(self, parsed: Mapping[str, Any], **_: Any) -> None:
        """Runs after each answer of DynamoDB, which every invocation asks first, and of Secrets Manager. Credentials
        that were withdrawn, or that ended by another machine's clock, are fetched again by the next attempt.
        """
        binding = bound()
        if binding is not None and parsed.get("Error", {}).get("Code") in DENIED:
            with self._lock:
                self._kept.pop(binding.tenant, None)

    def _assume(self, tenant: str) -> _Kept:
        asked = time.time()
        policy = self._policy(tenant, self._role_arn.split(":")[1])
        given = assume(self._sts, self._role_arn, tenant, policy, LIFE_SECONDS)
        keys = Keys(given["AccessKeyId"], given["SecretAccessKey"], given["SessionToken"])
        return _Kept(keys, asked, given["Expiration"].timestamp())


def assume(sts: Service, role_arn: str, tenant: str, policy: str, seconds: int) -> Mapping[str, Any]:
    """STS's `Credentials` of the role for a tenant's data, narrowed by a session policy, for so many seconds. How much
    of AWS's limit the packed policy takes is logged as a metric.

    Raises AwsDenied, SessionPolicyTooLarge, StoreThrottled, StoreUnavailable.
    """
    try:
        answer: Mapping[str, Any] = sts.call(
            "assume_role",
            RoleArn=role_arn,
            RoleSessionName=session_name(tenant),
            DurationSeconds=seconds,
            Policy=policy,
        )
    except AwsRefused as refused:  # whatever it is that STS does not take, an operator has to see to it
        if refused.code != "PackedPolicyTooLarge":
            raise AwsDenied(f"assume_role: {refused.code}") from None
        policy_packed(tenant, ABOVE_LIMIT)
        raise SessionPolicyTooLarge(f"assume_role: {refused.code}") from None
    if "PackedPolicySize" in answer:
        policy_packed(tenant, answer["PackedPolicySize"])
    credentials: Mapping[str, Any] = answer["Credentials"]
    return credentials


def session_name(tenant: str) -> str:
    """The name that the tenant's requests have in AWS's own trail; 2 to 64 characters, not unique."""
    return re.sub(r"[^\w+=,.@-]", "-", f"t-{tenant}", flags=re.ASCII)[:64]


def session_policy(tenant: str, partition: str, bucket: str, session_bucket: str) -> str:
    """Allows items and objects by what the tenant's keys begin with, and nothing else. The role itself says which
    actions and which table are allowed, and that a request must have keys, which `ForAllValues` does not demand.
    `kms`: where the deployment encrypts with a key of its own, a reader needs that key, too.

    AWS bounds a policy's length, 2,048 characters, and its size as AWS packs it, by a limit that is not published (STS
    API Reference, AssumeRole). So a long tenant is hashed (`tenant_part`), and there is no `Version`: in the policy
    language without one, nothing in a name is a variable either.
    """
    keys = tenant_pk(tenant)
    objects = [(bucket, FILES), (session_bucket, SESSIONS)]
    statements = [
        {
            "Effect": "Allow",
            "Action": "dynamodb:*",
            "Resource": "*",
            "Condition": {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": [keys, f"{keys}#*"]}},
        },
        {
            "Effect": "Allow",
            "Action": ["s3:*", "kms:*"],
            "Resource": [
                *(f"arn:{partition}:s3:::{name}/{tenant_prefix(kind, tenant)}*" for name, kind in objects),
                f"arn:{partition}:kms:*:*:*",
            ],
        },
        {
            "Effect": "Allow",
            "Action": "s3:*",  # only a listing has a prefix
            "Resource": "*",
            "Condition": {
                "StringLike": {"s3:prefix": [f"{tenant_prefix(kind, tenant)}*" for kind in (FILES, SESSIONS)]}
            },
        },
    ]
    return json.dumps({"Statement": statements}, separators=(",", ":"))


def data_of(bucket: str, session_bucket: str) -> Narrowed:
    """Narrows to the tenant's items and objects. `bucket`: of the files. `session_bucket`: of sessions' texts."""
    return lambda tenant, partition: session_policy(tenant, partition, bucket, session_bucket)


def tool_secrets_of(environment: str) -> Narrowed:
    """Narrows to the secrets of the tenant's tools and notifications. These credentials reach no item and no object,
    and those for items and objects reach no secret: one policy would not have room for both.
    """
    return lambda tenant, partition: secrets_policy(tenant, partition, environment)


def secrets_policy(tenant: str, partition: str, environment: str) -> str:
    """The role says which actions are allowed. `kms`: as in `session_policy`."""
    prefixes = (tool_secrets_prefix(environment, tenant), notification_secrets_prefix(environment, tenant))
    resources = [
        *(f"arn:{partition}:secretsmanager:*:*:secret:{prefix}*" for prefix in prefixes),
        f"arn:{partition}:kms:*:*:*",
    ]
    statement = {"Effect": "Allow", "Action": ["secretsmanager:*", "kms:*"], "Resource": resources}
    return json.dumps({"Statement": [statement]}, separators=(",", ":"))
