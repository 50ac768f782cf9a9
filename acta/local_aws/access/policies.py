"""Each request, and what the local AWS does in a role's name, is allowed by IAM policies or refused.

ministack evaluates them with `AUTH=true` (`own_environment.py`): the caller's identity policies, permissions boundary
and session policies, and the resource's own policy. Here is what it leaves out. Source: IAM user guide, "Policy
evaluation logic"; Service Authorization Reference, "Amazon DynamoDB", "AWS Step Functions".
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from acta.local_aws.access import principals
from acta.local_aws.access.leading_keys import leading_keys
from acta.local_aws.credentials import Credentials
from acta.local_aws.ministack import module
from acta.local_aws.settings import REGION, Settings

LEADING_KEYS = "dynamodb:LeadingKeys"
_KEYS_BY_TABLE = "local-aws:keys-by-table"
"""On its way from a request's body to the evaluation. No policy names it."""

READ_EVENTS = {
    "sqs": ("sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"),
    "dynamodb": ("dynamodb:GetRecords", "dynamodb:GetShardIterator", "dynamodb:DescribeStream"),
}
"""What Lambda does in the role of a function that a queue or a stream calls. Source: Lambda developer guide, "Execution
role permissions" of each event source."""


def refusal(credentials: Credentials, action: str, service: str, resource: str) -> str | None:
    """Why the role that these are of may not do this, in AWS's words. None: it may. `service`: ministack's name."""
    denied = module("core.iam_evaluator").enforce(
        credentials.access_key_id, action, service, REGION, resource_arn=resource
    )
    if denied is None:
        return None
    message: str = module("core.iam_actions").identity_denial_message(
        action, getattr(denied, "principal_arn", ""), resource, getattr(denied, "decision", "") == "Deny"
    )
    return message


def hold_loopback_for_tls(settings: Settings) -> None:
    """`aws:SecureTransport` is true: what leaves no machine needs no TLS, and buckets refuse requests without it.

    Patches: `app.pin_request_origin`.
    """
    app = module("app")
    pin = app.pin_request_origin
    app.pin_request_origin = lambda source_ip, secure_transport: pin(source_ip, True)


def evaluate_leading_keys(settings: Settings) -> None:
    """Conditions on `dynamodb:LeadingKeys` are evaluated: with the keys that the request names in that table.

    An action of a transaction is checked with the keys of all of them. Patches:
    `core.iam_actions.dynamodb_service_context`, `core.iam_evaluator.enforce`.
    """
    actions, evaluator = module("core.iam_actions"), module("core.iam_evaluator")
    context_of, enforce = actions.dynamodb_service_context, evaluator.enforce

    def context_with_keys(body: bytes) -> dict[str, Any]:
        return {**context_of(body), _KEYS_BY_TABLE: _keys_in(body)}

    def enforce_with_keys(
        access_key_id: str,
        iam_action: str,
        service: str,
        region: str,
        resource_arn: str = "*",
        service_context: Mapping[str, Any] | None = None,
    ) -> Any:
        context = dict(service_context or {})
        # `…:table/name` or `…:table/name/index/other`
        table = resource_arn.partition(":table/")[2].partition("/")[0]
        keys = context.pop(_KEYS_BY_TABLE, {}).get(table)
        if keys is not None:
            context[LEADING_KEYS] = keys
        return enforce(access_key_id, iam_action, service, region, resource_arn, context)

    actions.dynamodb_service_context = context_with_keys
    evaluator.enforce = enforce_with_keys


def _keys_in(body: bytes) -> dict[str, list[str]]:
    try:
        return leading_keys(json.loads(body or b"{}"))
    except (ValueError, TypeError, KeyError, AttributeError):  # the service will refuse it
        return {}


def hide_what_may_not_be_listed(settings: Settings) -> None:
    """A missing object is `AccessDenied` to whoever may not list the bucket, so that names cannot be found by asking.

    Source: S3 API reference, GetObject, "Permissions". Patches: `services.s3.handle_request`.
    """
    s3, actions = module("services.s3"), module("core.iam_actions")
    evaluator, router = module("core.iam_evaluator"), module("core.router")
    handle = s3.handle_request

    async def handle_and_hide(
        method: str, path: str, headers: dict[str, str], body: bytes, query_params: dict[str, Any]
    ) -> Any:
        answer = await handle(method, path, headers, body, query_params)
        bucket, _, key = path.lstrip("/").partition("/")
        if answer[0] != 404 or method not in ("GET", "HEAD") or not key:
            return answer
        access_key = router.extract_access_key_id(headers, query_params)
        denied = evaluator.enforce(
            access_key, "s3:ListBucket", "s3", REGION, resource_arn=f"arn:aws:s3:::{bucket}"
        )
        if denied is None:
            return answer
        principal = getattr(denied, "principal_arn", "")
        return actions.access_denied_response("s3", "s3:ListBucket", principal, "", headers=headers)

    s3.handle_request = handle_and_hide


def read_events_as_the_function(settings: Settings) -> None:
    """A queue or a stream calls a function only if that function's role may read it.

    AWS refuses to make the mapping then; here it stays and calls nobody. Patches: `services.lambda_svc._iter_all_esms`.
    """
    lambdas = module("services.lambda_svc")
    mappings = lambdas._iter_all_esms

    def readable() -> Iterator[tuple[str, str, dict[str, Any]]]:
        for account, region, mapping in mappings():
            if _may_read(lambdas, mapping):
                yield account, region, mapping

    lambdas._iter_all_esms = readable


def _may_read(lambdas: Any, mapping: dict[str, Any]) -> bool:
    source = str(mapping.get("EventSourceArn", ""))
    service = source.split(":")[2] if source.count(":") > 2 else ""
    found = lambdas._get_func_record_for_qualifier(mapping["FunctionName"], mapping.get("Qualifier"))[0]
    if found is None or service not in READ_EVENTS:
        return True
    role = str((found.get("config") or {}).get("Role", ""))
    with principals.in_role(role, str(mapping["FunctionName"])) as credentials:
        refused = next(
            filter(None, (refusal(credentials, one, service, source) for one in READ_EVENTS[service])), None
        )
    if refused is not None:
        mapping["LastProcessingResult"] = f"PROBLEM: {refused}"
    return refused is None
