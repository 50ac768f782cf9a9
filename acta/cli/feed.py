"""A session's updates, taken from the deployment by a thread of its own while a person is asked something."""

import threading
from collections.abc import Callable, Iterator
from queue import SimpleQueue

from acta.cli.follow import Update

Listener = Callable[[Update | None], None]
"""Called in the feed's thread; None: there will be no further update."""


class Feed:
    """Iterates over `updates` in their order, none left out, raising what taking them raised."""

    def __init__(self, updates: Iterator[Update]) -> None:
        self.updates = updates
        self.queue: SimpleQueue[Update | BaseException | None] = SimpleQueue()
        self.lock = threading.Lock()
        self.latest: Update | None = None
        self.has_ended = False
        self.listener: Listener | None = None
        threading.Thread(target=self.take, daemon=True).start()

    def __iter__(self) -> Iterator[Update]:
        while (found := self.queue.get()) is not None:
            if isinstance(found, BaseException):
                raise found
            yield found

    def hear(self, listener: Listener | None) -> None:
        """From now on `listener` gets each update too: first, in this thread, the newest one that was taken."""
        with self.lock:
            self.listener = listener
            newest = None if self.has_ended else self.latest
        if listener is not None:
            listener(newest)

    def is_open(self, intervention_id: str) -> bool:
        """As far as was heard."""
        return self.latest is not None and self.latest.is_open(intervention_id)

    def take(self) -> None:
        end: BaseException | None = None
        try:
            for update in self.updates:
                self.put(update)
        except Exception as error:
            end = error
        self.queue.put(end)
        with self.lock:
            self.has_ended = True
            listener = self.listener
        if listener is not None:
            listener(None)

    def put(self, update: Update) -> None:
        self.queue.put(update)
        with self.lock:
            self.latest = update
            listener = self.listener
        if listener is not None:
            listener(update)
