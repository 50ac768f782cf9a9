"""Nothing of the host is run or reaped: no container engine, no start-up scripts of other emulators.

As shipped, ministack removes every container it finds labelled as its own (another copy's, on a developer's
machine) and executes scripts it finds in well-known folders. Patches: `app._stop_docker_containers`,
`app._docker_socket_present`, `app._run_init_scripts`, `app._run_ready_scripts`,
`core.container_reaper.start`.
"""

from __future__ import annotations

from infra.local.emulator.settings import Settings
from infra.local.emulator.upstream import module


def apply(settings: Settings) -> None:
    app = module("app")

    async def no_scripts() -> None:
        return None

    app._stop_docker_containers = lambda include_unlabelled=False: None
    app._docker_socket_present = lambda: False
    app._run_init_scripts = lambda: None
    app._run_ready_scripts = no_scripts
    module("core.container_reaper").start = lambda client: None
