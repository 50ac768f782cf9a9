"""A Lambda's code in a process of its own, its CPU accounted for: run by the runtime's interpreter on a bundle.

Standard library only. Arguments: the bundle, the function's name. Reads an event a line (JSON) and answers a
line: the result, and the CPU it took in milliseconds, all threads of the process (`total`), of which inside the
SDK clients (`sdk`): botocore's calls and its reading of bodies, the LLM SDK's request and its reading of the
stream. What is left is the function's own: handler, Powertools, pydantic, our code. AWS's runtime client has no
part in it. `modules`: the LLM SDKs that are imported. `probe`: milliseconds of CPU of a piece of work that is the same
each time, so that a slow machine or a busy one can be told from slow code.
"""

import importlib
import json
import os
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from typing import Any

LLM_SDKS = ("anthropic", "openai")


class Account:
    """Thread CPU spent inside SDK calls; a call inside a call counts once."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._lock = threading.Lock()
        self._inside = threading.local()

    def around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def accounted(*args: Any, **kwargs: Any) -> Any:
            if getattr(self._inside, "yes", False):
                return function(*args, **kwargs)
            self._inside.yes = True
            started = time.thread_time()
            try:
                return function(*args, **kwargs)
            finally:
                spent = time.thread_time() - started
                self._inside.yes = False
                with self._lock:
                    self.seconds += spent

        return accounted

    def iterated(self, iterate: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
        """Only the steps of the iteration, not what the loop does with them."""

        def accounted(stream: Any) -> Iterator[Any]:
            following = self.around(iter(iterate(stream)).__next__)
            while True:
                try:
                    item = following()
                except StopIteration:
                    return
                yield item

        return accounted


class Context:
    """What a handler sees of its invocation."""

    function_version = "$LATEST"
    memory_limit_in_mb = 1_024
    aws_request_id = "00000000-0000-4000-8000-000000000000"

    def __init__(self, name: str) -> None:
        self.function_name = f"acta-local-{name}"
        self.invoked_function_arn = f"arn:aws:lambda:us-east-1:000000000000:function:{self.function_name}"

    def get_remaining_time_in_millis(self) -> int:
        return 120_000


def watch_botocore(account: Account) -> None:
    from botocore.client import BaseClient
    from botocore.response import StreamingBody

    BaseClient._make_api_call = account.around(BaseClient._make_api_call)
    StreamingBody.read = account.around(StreamingBody.read)


def watch_anthropic(account: Account) -> None:
    from anthropic import Stream
    from anthropic.resources.messages import Messages

    Messages.create = account.around(Messages.create)  # type: ignore[method-assign]
    Stream.__iter__ = account.iterated(Stream.__iter__)  # type: ignore[method-assign]
    Stream.close = account.around(Stream.close)  # type: ignore[method-assign]


def main() -> None:
    bundle, name = sys.argv[1:3]
    out = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the function's log lines go where Lambda's pipe would be
    sys.path.insert(0, bundle)
    before = time.process_time()
    handler = importlib.import_module(f"acta.functions.{name}.handler").handler
    context, account = Context(name), Account()
    answer: dict[str, Any] = {"import_ms": (time.process_time() - before) * 1000}
    watched: set[str] = set()
    for line in _lines(out, answer):
        account.seconds, before = 0.0, time.process_time()
        result = handler(json.loads(line), context)
        total = time.process_time() - before
        found = [sdk for sdk in LLM_SDKS if sdk in sys.modules]
        answer.clear()
        answer.update(result=result, total=total * 1000, sdk=account.seconds * 1000, modules=found)
        answer["probe"] = probe()
        # Not before the first event has brought them: whether and when they come is a figure itself.
        for sdk, watch in (("botocore.client", watch_botocore), ("anthropic", watch_anthropic)):
            if sdk in sys.modules and sdk not in watched:
                watched.add(sdk)
                watch(account)


def probe() -> float:
    """About a millisecond of what the handlers do most: building, serialising and compressing a document."""
    started = time.thread_time()
    for number in range(20):
        zlib.compress(json.dumps({str(field): [field, number, "text"] for field in range(40)}).encode())
    return (time.thread_time() - started) * 1000


def _lines(out: Any, answer: dict[str, Any]) -> Iterator[str]:
    """Each line of the input, after the answer so far has been written."""
    while True:
        out.write(json.dumps(answer) + "\n")
        out.flush()
        line = sys.stdin.readline()
        if not line:
            return
        yield line


if __name__ == "__main__":
    main()
