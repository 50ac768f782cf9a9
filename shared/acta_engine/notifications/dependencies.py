"""Everything `notify` needs, put together once per process."""

import os
from functools import cache
from typing import NamedTuple

from acta_engine.aws.secrets import CachedSecrets, secret_text
from acta_engine.egress.address import FOR_NOTIFICATIONS, AddressGuard
from acta_engine.notifications.dynamodb import ReceiversByPartition
from acta_engine.notifications.notification import Addresses
from acta_engine.notifications.notifier import ChangeReader, Notifier, OwnReceivers, RetryQueue
from acta_engine.notifications.own_webhooks import OwnWebhooks
from acta_engine.notifications.sqs import Queue
from acta_engine.notifications.webhook import Topic, Webhook
from acta_engine.settings import Settings, settings
from acta_engine.store.keys import RECEIVERS_SECRET, notification_secrets_prefix
from acta_engine.store.stream import StreamedChanges
from acta_engine.system_clock import SystemClock

LOCAL_SECRET = "ACTA_NOTIFY_SECRET"
"""The secret itself, for a local stack, which has no Secrets Manager."""


OWN_SECRETS_SECONDS = 60
"""How long a worker signs with a tenant's secret that was replaced."""
OWN_SECRETS_KEPT = 200


class Dependencies(NamedTuple):
    """`notifier` None: the deployment names no receiver, as a local stack without a URL. `own` None: tenants and
    sessions may name none.
    """

    changes: ChangeReader
    later: RetryQueue
    notifier: Notifier | None
    own: OwnReceivers | None
    addresses: Addresses


@cache
def dependencies() -> Dependencies:
    chosen = settings()
    return Dependencies(
        changes=StreamedChanges(chosen.table),
        later=Queue(chosen.notify_queue_url),
        notifier=_notifier(chosen),
        own=_own(chosen) if chosen.tells_tenants else None,
        addresses=Addresses(chosen.notify_api_url, chosen.notify_console_url),
    )


def _notifier(chosen: Settings) -> Notifier | None:
    if chosen.notify_topic_arn:
        return Topic(chosen.notify_topic_arn)
    if chosen.notify_webhook_url:
        return Webhook(chosen.notify_webhook_url, lambda: _secret(chosen), SystemClock())
    return None


def _own(chosen: Settings) -> OwnReceivers:
    secrets = CachedSecrets(seconds=OWN_SECRETS_SECONDS, kept=OWN_SECRETS_KEPT)

    def secret(tenant: str) -> str:
        return secrets(notification_secrets_prefix(chosen.env, tenant) + RECEIVERS_SECRET)

    guard = AddressGuard(chosen, lists=FOR_NOTIFICATIONS)
    return OwnWebhooks(ReceiversByPartition(chosen.table), guard, secret, SystemClock())


def _secret(chosen: Settings) -> str:
    name = chosen.notify_secret_name
    return secret_text(name) if name else os.environ.get(LOCAL_SECRET, "")
