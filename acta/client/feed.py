"""Updates that keep coming while their reader does something else."""

import threading
from collections.abc import Callable, Iterator
from queue import SimpleQueue

from acta.client.following import Update

Listener = Callable[[Update | None], None]
"""Gets each update when it comes, in the feed's thread; None when no further one will come."""


class Feed:
    """Takes `updates` in a thread of its own, so that they keep coming while the reader does something else.

    Iterating over it gives all of them in their order, and raises what taking them raised.
    """

    def __init__(self, updates: Iterator[Update]) -> None:
        self.updates = updates
        self.queue: SimpleQueue[Update | BaseException | None] = SimpleQueue()
        self.lock = threading.Lock()
        self.latest: Update | None = None
        self.has_ended = False
        self.listener: Listener | None = None
        threading.Thread(target=self.run, daemon=True).start()

    def __iter__(self) -> Iterator[Update]:
        while (found := self.queue.get()) is not None:
            if isinstance(found, BaseException):
                raise found
            yield found

    def subscribe(self, listener: Listener) -> None:
        """From now on `listener`, and no earlier one, gets each update; the latest one at once, in this thread."""
        with self.lock:
            self.listener = listener
            latest = None if self.has_ended else self.latest
        listener(latest)

    def unsubscribe(self) -> None:
        with self.lock:
            self.listener = None

    def is_open(self, intervention_id: str) -> bool:
        """By the latest update."""
        return self.latest is not None and self.latest.is_open(intervention_id)

    def run(self) -> None:
        """In the feed's thread."""
        end: BaseException | None = None
        try:
            for update in self.updates:
                self.publish(update)
        except Exception as error:
            end = error
        self.queue.put(end)
        with self.lock:
            self.has_ended = True
            listener = self.listener
        if listener is not None:
            listener(None)

    def publish(self, update: Update) -> None:
        self.queue.put(update)
        with self.lock:
            self.latest = update
            listener = self.listener
        if listener is not None:
            listener(update)
