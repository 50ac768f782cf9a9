"""Webhooks that tenants and their sessions name (ADR 68).

Their addresses are checked when they are written and again here, before each request: the host has to be one of the
operator's list, and the address that was checked is the one that is dialled. No redirect is followed.
"""

import time
from collections import OrderedDict
from collections.abc import Callable

from acta_engine.aws.secrets import CachedSecrets
from acta_engine.clock import Clock
from acta_engine.egress.address import AddressGuard, AddressRefused, Target
from acta_engine.notifications.dynamodb import StoredReceivers
from acta_engine.notifications.notification import Notification, ReceiverName
from acta_engine.notifications.notifier import NotDelivered, NotificationRefused
from acta_engine.notifications.webhook import Silent, post
from acta_engine.store.keys import RECEIVERS_SECRET, notification_secrets_prefix

SECONDS = 5.0
"""For one request and its answer. What a tenant names must not use up the concurrency of all."""
REST_SECONDS = 30.0
"""A server that was silent to a tenant is left alone for so long by this worker, for that tenant: others' notifications
come first, and several may have their webhooks at one host.
"""
RESTING_KEPT = 100

SECRET_SECONDS = 60
"""How long a worker signs with a tenant's secret that was replaced."""
SECRETS_KEPT = 200

Origin = tuple[str, str, int]
Resting = tuple[str, Origin]
"""The tenant's partition, and the server."""


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
        seconds: float = SECONDS,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stored = stored
        self._guard = guard
        self._secret = secret
        self._clock = clock
        self._seconds = seconds
        self._now = now
        self._resting: OrderedDict[Resting, float] = OrderedDict()

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
        target = self._target(url, partition)
        try:
            post(target, self._secret(stored.tenant.tenant), notification, self._clock, self._seconds)
        except Silent:
            self._resting[partition, target.origin] = self._now()
            if len(self._resting) > RESTING_KEPT:
                self._resting.popitem(last=False)
            raise

    def _target(self, url: str, partition: str) -> Target:
        """Raises NotificationRefused where the operator does not allow the host any more, and NotDelivered."""
        try:
            resting = partition, self._guard.check(url).origin
        except AddressRefused:
            raise NotificationRefused("its host is not one of those that the operator allows") from None
        silent_since = self._resting.pop(resting, None)
        if silent_since is not None and self._now() - silent_since < REST_SECONDS:
            self._resting[resting] = silent_since
            raise NotDelivered("it was silent a moment ago")
        try:
            return self._guard.resolve(url)
        except AddressRefused:
            raise NotDelivered("its host is not at a public address") from None
        except OSError:
            raise NotDelivered("its host was not found") from None
