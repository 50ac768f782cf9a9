"""A queue keeps the URL that it was created with, also when the emulator listens on another port after a restart.

Source: SQS developer guide, "Queue and message identifiers": the URL is the queue's identifier, and stays. ministack
makes a queue's URL from its name and the present port wherever an event source mapping asks for it, so after a restart
on another port no mapping finds its queue. Patch: `services.sqs._queue_url`.
"""

from __future__ import annotations

from acta.local_aws.ministack import module
from acta.local_aws.settings import Settings


def keep_queue_urls(settings: Settings) -> None:
    queues = module("services.sqs")
    new_url = queues._queue_url

    def url_of(name: str) -> str:
        url: str = queues._queue_name_to_url.get(name) or new_url(name)
        return url

    queues._queue_url = url_of
