"""Serve the patched emulator until SIGTERM, SIGINT or its starter's death, then end in order: work, state, sockets."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import os
import signal
import threading
from typing import Any

from infra.local.emulator import closing, guard
from infra.local.emulator.settings import HOST, Settings
from infra.local.emulator.upstream import module


def serve(settings: Settings) -> None:
    """Returns after an orderly end. ministack saves its state in the ASGI lifespan's shutdown."""
    serve_asgi: Any = importlib.import_module("hypercorn.asyncio").serve
    config: Any = importlib.import_module("hypercorn.config").Config()
    config.bind = [f"{HOST}:{settings.port}"]
    config.keep_alive_timeout = 75
    config.graceful_timeout = 1
    config.shutdown_timeout = 30
    config.loglevel = "WARNING"
    application = guard.guarded(module("app").app, settings)

    async def run() -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)
        if settings.supervised:
            threading.Thread(target=wait_for_starter, args=(loop, stop), daemon=True).start()

        async def stopped() -> None:
            await stop.wait()
            await asyncio.to_thread(closing.run)

        await serve_asgi(application, config, shutdown_trigger=stopped)

    try:
        asyncio.run(run())
    finally:
        closing.run()


def wait_for_starter(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    """Returns when nobody holds the other end of standard input any more, which no kill can prevent."""
    while os.read(0, 64):
        pass
    with contextlib.suppress(RuntimeError):  # the loop is closed: we are ending anyway
        loop.call_soon_threadsafe(stop.set)
