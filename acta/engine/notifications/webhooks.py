"""Sends notifications: signed POST requests, one attempt, no redirects; or an SNS topic, which signs them, delivers
them and repeats what was not delivered.

Webhooks that tenants and their sessions name (ADR 68) have addresses that are checked when they are written and again
here, before each request: the host has to be one of the operator's list, and the address that was checked is the one
that is dialled.
"""

import os
import time
from collections import OrderedDict
from collections.abc import Callable
from threading import Thread
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from acta.engine.aws.clients import Service
from acta.engine.aws.errors import AwsRefused
from acta.engine.aws.secrets import CachedSecrets, secret_text
from acta.engine.clock import Clock
from acta.engine.egress.address import HTTP_PORT, HTTPS_PORT, AddressGuard, AddressRefused, Target
from acta.engine.errors import AwsDenied, StoreThrottled, StoreUnavailable
from acta.engine.notifications.dynamodb import StoredReceivers
from acta.engine.notifications.notification import (
    NotDelivered,
    Notification,
    NotificationRefused,
    QuestionNotification,
    ReceiverName,
)
from acta.engine.notifications.receiver import signature, signing_key
from acta.engine.store.keys import RECEIVERS_SECRET, notification_secrets_prefix

SECONDS = 10.0
"""For one request and its answer."""
LOCAL_SECRET = "ACTA_NOTIFY_SECRET"
"""The variable with the secret itself, for a local stack, which has no Secrets Manager."""
REFUSALS = frozenset((400, 410, 413, 415, 422))
"""Answers that mean that this notification will never be accepted. After any other failure it is sent again."""


class DeploymentWebhook:
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
    """Raises NotDelivered and NotificationRefused. No error has the secret or the URL."""
    from acta.engine.egress.exchange import NoAnswer, NotSent, exchange

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
        answer = exchange(target, "POST", headers, body, seconds, status_only=True)
    except (NotSent, NoAnswer) as silent:
        raise NotDelivered(f"no answer: {type(silent).__name__}") from None
    if 200 <= answer.status < 300:
        return
    if answer.status in REFUSALS:
        raise NotificationRefused(f"answered with status {answer.status}")
    raise NotDelivered(f"answered with status {answer.status}")


def _target(url: str) -> Target:
    """The host is looked up with each request. `acta.engine.settings` has checked the URL."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = parts.port or (HTTPS_PORT if parts.scheme == "https" else HTTP_PORT)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(parts.scheme, host, port, path, ip=host)


class SnsTopic:
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


TENANT_SECONDS = 5.0
"""For looking the host up, one request and its answer. What a tenant names must not use up the concurrency of all."""
QUICK_SECONDS = 1.0
"""A server that took a notification in this time is asked again at once."""
REST, LONGEST_REST = 9, 600.0
"""Any other attempt is followed by a rest of nine times the time that it took, so that it has a tenth of this worker
at most, whatever came of it. Each further one that was not quick and told nothing doubles the rest, up to ten minutes.
A server that takes what it is sent, slowly, gets its next one after the same rest each time.
"""
RESTING_KEPT = 100

SECRET_SECONDS = 60
"""How long a worker signs with a tenant's secret that was replaced."""
SECRETS_KEPT = 200

Origin = tuple[str, str, int]
Resting = tuple[str, ReceiverName, Origin]
"""The tenant's partition, whose webhook it is, and the server: others may have webhooks there, and a member who names
it for a session must not put the tenant's own to rest.
"""


class Rest(NamedTuple):
    until: float
    slow: int
    """Attempts in a row that were not quick and told nothing."""


def secrets_of_tenants(environment: str) -> Callable[[str], str]:
    """From a tenant to the secret that its notifications are signed with; empty: it has none."""
    secrets = CachedSecrets(seconds=SECRET_SECONDS, kept=SECRETS_KEPT)
    return lambda tenant: secrets(notification_secrets_prefix(environment, tenant) + RECEIVERS_SECRET)


class OwnWebhooks:
    """OwnReceivers. `stored`: from the tenant's partition and a session's id to what was named. `secret`: from a
    tenant's name to what its notifications are signed with; empty: nothing. `now`: a clock in seconds.
    """

    def __init__(
        self,
        stored: Callable[[str, str], StoredReceivers],
        guard: AddressGuard,
        secret: Callable[[str], str],
        clock: Clock,
        *,
        seconds: float = TENANT_SECONDS,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stored = stored
        self._guard = guard
        self._secret = secret
        self._clock = clock
        self._seconds = seconds
        self._now = now
        self._resting: OrderedDict[Resting, Rest] = OrderedDict()

    def of(self, notification: Notification, partition: str) -> tuple[ReceiverName, ...]:
        stored = self._stored(partition, notification.session_id)
        if stored.tenant is None:
            return ()
        own, names = stored.session_url, list[ReceiverName]()
        if stored.tenant.url is not None and notification.may_be_told("tenant"):
            names.append("tenant")
        if own is not None and (own != stored.tenant.url or not names):
            names.append("session")
        return tuple(names)

    def send(self, to: ReceiverName, notification: Notification, partition: str) -> None:
        stored = self._stored(partition, notification.session_id)
        if stored.tenant is None:
            return
        url = stored.session_url if to == "session" else stored.tenant.url
        if url is None:
            return
        resting, secret = self._awake(to, url, partition), self._secret(stored.tenant.tenant)
        began, is_told = self._now(), False
        try:
            target = self._looked_up(url)
            left = max(0.0, self._seconds - (self._now() - began))
            post(target, secret, notification, self._clock, left)
            is_told = True
        finally:
            self._rest(resting, self._now() - began, is_told=is_told)

    def _awake(self, to: ReceiverName, url: str, partition: str) -> Resting:
        """Raises NotificationRefused where the operator does not allow the host any more, and NotDelivered where the
        server rests.
        """
        try:
            resting = partition, to, self._guard.check(url).origin
        except AddressRefused:
            raise NotificationRefused("its host is not one of those that the operator allows") from None
        if resting in self._resting and self._now() < self._resting[resting].until:
            raise NotDelivered("it was slow or did not take one a moment ago")
        return resting

    def _looked_up(self, url: str) -> Target:
        """In a thread, because the operating system's look-up has no limit of its own. Raises NotDelivered."""
        found: list[Target | Exception] = []

        def look() -> None:
            try:
                found.append(self._guard.resolve(url))
            except Exception as error:
                found.append(error)

        looking = Thread(target=look, daemon=True)
        looking.start()
        looking.join(self._seconds)
        match found:
            case [Target() as target]:
                return target
            case [AddressRefused()]:
                raise NotDelivered("its host is not at a public address")
        raise NotDelivered("its host was not found")

    def _rest(self, resting: Resting, used: float, *, is_told: bool) -> None:
        before = self._resting.pop(resting, None)
        is_slow = used >= QUICK_SECONDS
        if is_told and not is_slow:
            return
        slow = (not is_told and is_slow) * ((before.slow if before is not None else 0) + 1)
        seconds = min(LONGEST_REST, REST * used * 2 ** max(0, slow - 1))
        self._resting[resting] = Rest(self._now() + seconds, slow)
        if len(self._resting) > RESTING_KEPT:
            self._resting.popitem(last=False)
