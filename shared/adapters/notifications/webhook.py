"""Notifications as signed POSTs to one URL that the deployment names: one attempt, bounded, no redirect followed."""

from collections.abc import Callable
from urllib.parse import urlsplit

from shared.adapters.egress.address import HTTP_PORT, HTTPS_PORT, Target
from shared.domain.interventions.notification import Notification, signature, signing_key
from shared.ports.clock import Clock
from shared.ports.notifier import NotDelivered, NotificationRefused

SECONDS = 10.0
"""For all of an exchange."""
REFUSALS = frozenset((400, 410, 413, 415, 422))
"""Answers about this very notification. Whatever else is no success may be mended and is tried again."""


class Webhook:
    """`secret` is asked for at each call, so that a new one is seen; exchanges are made by
    `shared.adapters.egress.exchange`, which is imported at the first."""

    def __init__(
        self, url: str, secret: Callable[[], str], clock: Clock, *, seconds: float = SECONDS
    ) -> None:
        self._target = _target(url)
        self._secret = secret
        self._clock = clock
        self._seconds = seconds

    def send(self, notification: Notification) -> None:
        from shared.adapters.egress.exchange import NoAnswer, NotSent, TooMuch, exchange

        try:
            key = signing_key(self._secret())
        except ValueError as unusable:
            raise NotDelivered(f"the secret is not usable: {unusable}") from None
        now, body = int(self._clock.now().timestamp()), notification.to_body()
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "acta",
            "webhook-id": notification.notification_id,
            "webhook-timestamp": str(now),
            "webhook-signature": signature(key, notification.notification_id, now, body),
        }
        try:
            answer = exchange(self._target, "POST", headers, body, self._seconds)
        except (NotSent, NoAnswer, TooMuch) as silent:
            raise NotDelivered(f"no answer: {type(silent).__name__}") from None
        if 200 <= answer.status < 300:
            return
        if answer.status in REFUSALS:
            raise NotificationRefused(f"answered with status {answer.status}")
        raise NotDelivered(f"answered with status {answer.status}")


def _target(url: str) -> Target:
    """The name is looked up anew at each exchange. Which URLs may be, `shared.settings` says."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = parts.port or (HTTPS_PORT if parts.scheme == "https" else HTTP_PORT)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(parts.scheme, host, port, path, ip=host)
