"""The deployment's own receivers of notifications: signed POST requests, one attempt, no redirects; or an SNS topic,
which signs them, delivers them and repeats what was not delivered. Tenants' webhooks are sent to from here, too.
"""

import os
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from acta_engine.aws.clients import Service
from acta_engine.aws.errors import AwsRefused
from acta_engine.aws.secrets import secret_text
from acta_engine.clock import Clock
from acta_engine.egress.address import HTTP_PORT, HTTPS_PORT, Target
from acta_engine.errors import AwsDenied, StoreThrottled, StoreUnavailable
from acta_engine.notifications.notification import Notification, QuestionNotification
from acta_engine.notifications.notifier import NotDelivered, NotificationRefused
from acta_engine.notifications.receiver import signature, signing_key

SECONDS = 10.0
"""For one request and its answer."""
LOCAL_SECRET = "ACTA_NOTIFY_SECRET"
"""The variable with the secret itself, for a local stack, which has no Secrets Manager."""
REFUSALS = frozenset((400, 410, 413, 415, 422))
"""Answers that mean that this notification will never be accepted. After any other failure it is sent again."""


class Silent(NotDelivered):
    """There was no answer, perhaps after all the time that there was for it."""


class Webhook:
    """A Notifier. `secret`: is called for each notification, so that a new secret is used at once. `seconds`: for one
    request and its answer.
    """

    def __init__(
        self, url: str, secret: Callable[[], str], clock: Clock, *, seconds: float = SECONDS
    ) -> None:
        self._target = _target(url)
        self._secret = secret
        self._clock = clock
        self._seconds = seconds

    def send(self, notification: Notification) -> None:
        post(self._target, self._secret(), notification, self._clock, self._seconds)


def signing_secret(name: str) -> Callable[[], str]:
    """Reads the secret called `name`; without a name, the variable of a local stack."""
    return lambda: secret_text(name) if name else os.environ.get(LOCAL_SECRET, "")


def post(target: Target, secret: str, notification: Notification, clock: Clock, seconds: float) -> None:
    """Raises NotDelivered, of which Silent is one, and NotificationRefused. No error has the secret or the URL."""
    from acta_engine.egress.exchange import AnswerTooLarge, NoAnswer, NotSent, exchange

    try:
        key = signing_key(secret)
    except ValueError as unusable:
        raise NotDelivered(f"the secret is not usable: {unusable}") from None
    now, body = int(clock.now().timestamp()), notification.to_body()
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "acta",
        "webhook-id": notification.notification_id,
        "webhook-timestamp": str(now),
        "webhook-signature": signature(key, notification.notification_id, now, body),
    }
    try:
        answer = exchange(target, "POST", headers, body, seconds)
    except (NotSent, NoAnswer, AnswerTooLarge) as silent:
        raise Silent(f"no answer: {type(silent).__name__}") from None
    if 200 <= answer.status < 300:
        return
    if answer.status in REFUSALS:
        raise NotificationRefused(f"answered with status {answer.status}")
    raise NotDelivered(f"answered with status {answer.status}")


def _target(url: str) -> Target:
    """The host is looked up with each request. `acta_engine.settings` has checked the URL."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = parts.port or (HTTPS_PORT if parts.scheme == "https" else HTTP_PORT)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(parts.scheme, host, port, path, ip=host)


class Topic:
    """A Notifier. Subscriptions can filter by the attributes `event` and `tenant`, and those to interventions
    by `type`, too."""

    def __init__(self, arn: str, client: Any = None) -> None:
        self._arn = arn
        self._sns = Service("sns", client)

    def send(self, notification: Notification) -> None:
        attributes = {"event": notification.event, "tenant": notification.tenant}
        if isinstance(notification, QuestionNotification):
            attributes["type"] = notification.type
        try:
            self._sns.call(
                "publish",
                TopicArn=self._arn,
                Message=notification.to_body().decode(),
                MessageAttributes={
                    name: {"DataType": "String", "StringValue": value} for name, value in attributes.items()
                },
            )
        except (StoreThrottled, StoreUnavailable, AwsDenied) as failed:
            raise NotDelivered(type(failed).__name__) from None
        except AwsRefused as refused:
            raise NotDelivered(refused.code) from None
