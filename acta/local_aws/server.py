"""Serve the patched emulator until SIGTERM, SIGINT or its starter's death. Then end in order: work, state, sockets."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import os
import signal
import threading
from typing import Any

from acta.local_aws import saved_state
from acta.local_aws.access import signatures, web_page_guard
from acta.local_aws.loopback import HOST
from acta.local_aws.ministack import module
from acta.local_aws.settings import Settings


def serve(settings: Settings) -> None:
    """Returns after an orderly end. ministack saves its state at the shutdown of the ASGI lifespan."""
    serve_asgi: Any = importlib.import_module("hypercorn.asyncio").serve
    config: Any = importlib.import_module("hypercorn.config").Config()
    config.bind = [f"{HOST}:{settings.port}"]
    config.keep_alive_timeout = 75
    config.graceful_timeout = 1
    config.shutdown_timeout = 30
    config.loglevel = "WARNING"
    application = web_page_guard.guarded(signatures.verified(module("app").app), settings)

    async def run() -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)
        if settings.supervised:
            threading.Thread(target=wait_for_starter, args=(loop, stop), daemon=True).start()

        async def stopped() -> None:
            await stop.wait()
            await asyncio.to_thread(saved_state.end_all_work)

        await serve_asgi(application, config, shutdown_trigger=stopped)

    try:
        asyncio.run(run())
    finally:
        saved_state.end_all_work()


def wait_for_starter(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    """Set `stop` when the starter has closed its end of standard input, or was killed."""
    while os.read(0, 64):
        pass
    with contextlib.suppress(RuntimeError):  # the loop is closed: this process ends anyway
        loop.call_soon_threadsafe(stop.set)
