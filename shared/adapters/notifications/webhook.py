"""Sends notifications as signed POST requests: one attempt, no redirects. Here is also the deployment's own webhook."""

from collections.abc import Callable
from urllib.parse import urlsplit

from shared.adapters.egress.address import HTTP_PORT, HTTPS_PORT, Target
from shared.domain.notifications.notification import Notification
from shared.domain.notifications.signature import signature, signing_key
from shared.ports.clock import Clock
from shared.ports.notifier import NotDelivered, NotificationRefused

SECONDS = 10.0
"""For one request and its answer."""
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


def post(target: Target, secret: str, notification: Notification, clock: Clock, seconds: float) -> None:
    """Raises NotDelivered, of which Silent is one, and NotificationRefused. No error has the secret or the URL."""
    from shared.adapters.egress.exchange import AnswerTooLarge, NoAnswer, NotSent, exchange

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
    """The host is looked up with each request. `shared.settings` has checked the URL."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = parts.port or (HTTPS_PORT if parts.scheme == "https" else HTTP_PORT)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(parts.scheme, host, port, path, ip=host)
