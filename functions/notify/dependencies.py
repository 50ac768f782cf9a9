"""Everything `notify` needs, put together once per process."""

import os
from functools import cache
from typing import NamedTuple

from shared.adapters.aws.secrets import secret_text
from shared.adapters.dynamodb.stream import StreamedChanges
from shared.adapters.notifications.sns import Topic
from shared.adapters.notifications.sqs import Queue
from shared.adapters.notifications.webhook import Webhook
from shared.adapters.system_clock import SystemClock
from shared.domain.notifications.notification import Addresses
from shared.ports.notifier import ChangeReader, Notifier, RetryQueue
from shared.settings import Settings, settings

LOCAL_SECRET = "ACTA_NOTIFY_SECRET"
"""The secret itself, for a local stack, which has no Secrets Manager."""


class Dependencies(NamedTuple):
    """`notifier` is None where nobody is notified: a local stack without a URL."""

    changes: ChangeReader
    later: RetryQueue
    notifier: Notifier | None
    addresses: Addresses


@cache
def dependencies() -> Dependencies:
    chosen = settings()
    return Dependencies(
        changes=StreamedChanges(chosen.table),
        later=Queue(chosen.notify_queue_url),
        notifier=_notifier(chosen),
        addresses=Addresses(chosen.notify_api_url, chosen.notify_console_url),
    )


def _notifier(chosen: Settings) -> Notifier | None:
    if chosen.notify_topic_arn:
        return Topic(chosen.notify_topic_arn)
    if chosen.notify_webhook_url:
        return Webhook(chosen.notify_webhook_url, lambda: _secret(chosen), SystemClock())
    return None


def _secret(chosen: Settings) -> str:
    name = chosen.notify_secret_name
    return secret_text(name) if name else os.environ.get(LOCAL_SECRET, "")
