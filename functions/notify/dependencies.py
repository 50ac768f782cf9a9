"""Everything `notify` needs, put together once per process."""

import os
from functools import cache
from typing import NamedTuple

from shared.adapters.aws.secrets import CachedSecrets, secret_text
from shared.adapters.dynamodb.receivers import ReceiversByPartition
from shared.adapters.dynamodb.stream import StreamedChanges
from shared.adapters.egress.address import FOR_NOTIFICATIONS, AddressGuard
from shared.adapters.notifications.own_webhooks import OwnWebhooks
from shared.adapters.notifications.sqs import Queue
from shared.adapters.notifications.webhook import Topic, Webhook
from shared.adapters.storage.keys import RECEIVERS_SECRET, notification_secrets_prefix
from shared.adapters.system_clock import SystemClock
from shared.domain.notifications.notification import Addresses
from shared.ports.notifier import ChangeReader, Notifier, OwnReceivers, RetryQueue
from shared.settings import Settings, settings

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
