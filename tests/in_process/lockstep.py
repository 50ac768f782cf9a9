"""Several workers in threads of which one runs at a time, and who is next is chosen: every interleaving can be had, and
had again.
"""

import threading
from collections.abc import Callable, Sequence

PATIENCE_SECONDS = 30.0


class Lockstep:
    """`choose` is given the numbers of those that wait and names the next one."""

    def __init__(self, choose: Callable[[Sequence[int]], int]) -> None:
        self._choose = choose
        self._changed = threading.Condition()
        self._waiting: set[int] = set()
        self._alive: set[int] = set()
        self._next: int | None = None
        self.errors: list[BaseException] = []

    def pause(self, worker: int) -> None:
        """Called by a worker wherever another may come in between."""
        with self._changed:
            self._waiting.add(worker)
            self._changed.notify_all()
            assert self._changed.wait_for(lambda: self._next == worker, PATIENCE_SECONDS), "nobody goes on"
            self._next = None
            self._waiting.discard(worker)

    def run(self, workers: Sequence[Callable[[], object]]) -> None:
        """Until all have ended; raises what one of them raised."""
        self._alive = set(range(len(workers)))
        threads = [
            threading.Thread(target=self._work, args=(number, work), daemon=True)
            for number, work in enumerate(workers)
        ]
        for session in threads:
            session.start()
        while self._advance():
            pass
        for session in threads:
            session.join(PATIENCE_SECONDS)
        if self.errors:
            raise self.errors[0]

    def _work(self, number: int, work: Callable[[], object]) -> None:
        try:
            self.pause(number)
            work()
        except BaseException as error:
            self.errors.append(error)
        finally:
            with self._changed:
                self._alive.discard(number)
                self._changed.notify_all()

    def _advance(self) -> bool:
        with self._changed:
            rest = self._changed.wait_for(
                lambda: self._next is None and self._waiting == self._alive, PATIENCE_SECONDS
            )
            assert rest, "a worker is stuck"
            if not self._alive:
                return False
            self._next = self._choose(sorted(self._waiting))
            self._changed.notify_all()
            return True
