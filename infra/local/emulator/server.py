"""Serve the patched emulator until SIGTERM or SIGINT, then end in order: work, state, sockets."""

from __future__ import annotations

import asyncio
import importlib
import signal
from typing import Any

from infra.local.emulator import closing
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
    application: Any = module("app").app

    async def run() -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)

        async def stopped() -> None:
            await stop.wait()
            await asyncio.to_thread(closing.run)

        await serve_asgi(application, config, shutdown_trigger=stopped)

    try:
        asyncio.run(run())
    finally:
        closing.run()
