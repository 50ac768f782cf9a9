"""What rules of EventBridge deliver, and what buckets tell them."""

from __future__ import annotations

import json
from contextvars import ContextVar
from typing import Any

from acta.local_aws.ministack import module
from acta.local_aws.settings import ACCOUNT, Settings

PRINCIPAL = "events.amazonaws.com"
_version: ContextVar[str | None] = ContextVar("the version of the object that S3 tells of", default=None)
_delivery: ContextVar[tuple[str, str] | None] = ContextVar("rule and dead-letter queue, by ARN", default=None)


def tell_versions(settings: Settings) -> None:
    """An event of a bucket that keeps versions names the version: `detail.object.version-id`.

    Source: Amazon S3 user guide, "EventBridge event message structure". Patches: `services.s3._fire_s3_event`,
    `services.eventbridge._dispatch_event`.
    """
    s3, bridge = module("services.s3"), module("services.eventbridge")
    fire, dispatch = s3._fire_s3_event, bridge._dispatch_event

    def fire_with_version(*arguments: Any, **named: Any) -> None:
        token = _version.set(named.get("version_id"))
        try:
            fire(*arguments, **named)
        finally:
            _version.reset(token)

    def dispatch_with_version(event: dict[str, Any], *more: Any, **named: Any) -> None:
        version = _version.get()
        if version and event.get("Source") == "aws.s3":
            detail = json.loads(event["Detail"])
            event = {
                **event,
                "Detail": json.dumps({**detail, "object": {**detail["object"], "version-id": version}}),
            }
        dispatch(event, *more, **named)

    s3._fire_s3_event = fire_with_version
    bridge._dispatch_event = dispatch_with_version


def ask_queues(settings: Settings) -> None:
    """A rule reaches a queue only if the queue's policy lets it; otherwise the event goes to the target's dead-letter
    queue, if that one's policy lets it.

    Source: EventBridge user guide, "Using resource-based policies for Amazon EventBridge", "Amazon SQS permissions";
    "Using dead-letter queues to process undelivered events in EventBridge". Patches:
    `services.eventbridge._invoke_target`, `services.eventbridge._dispatch_to_sqs`.
    """
    bridge, queues, arns = module("services.eventbridge"), module("services.sqs"), module("core.arn")
    invoke, put = bridge._invoke_target, bridge._dispatch_to_sqs

    def invoke_as_rule(
        target: dict[str, Any], event: Any, rule: dict[str, Any], *more: Any, **named: Any
    ) -> None:
        dead_letters = (target.get("DeadLetterConfig") or {}).get("Arn", "")
        token = _delivery.set((rule.get("Arn", ""), dead_letters))
        try:
            invoke(target, event, rule, *more, **named)
        finally:
            _delivery.reset(token)

    def put_if_allowed(spec: Any, payload: str, *more: Any, **named: Any) -> None:
        rule, dead_letters = _delivery.get() or ("", "")
        for queue in (str(spec), dead_letters):
            if queue and queues.queue_policy_allows(queue, PRINCIPAL, rule, ACCOUNT):
                put(arns.parse_arn(queue), payload, *more, **named)
                return
        bridge.logger.warning("EventBridge: the policy of %s does not let the rule %s send", spec, rule)

    bridge._invoke_target = invoke_as_rule
    bridge._dispatch_to_sqs = put_if_allowed
