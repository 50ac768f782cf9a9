"""The emulator takes nothing from this machine and leaves it alone.

As shipped, ministack binds every address (HTTP by `BIND_HOST`, MQTT by `IOT_MTLS_ENABLED`, SFTP by
`SFTP_ENABLED`). It obeys dozens of variables that a developer's shell may hold (`AWS_ENDPOINT_URL`, `AUTH`,
`LAMBDA_EXECUTOR`, `SFN_WAIT_SCALE` and others). It removes every container that is labelled as its own, also
another copy's, and it runs the scripts it finds in well-known folders. So the environment is replaced, not
extended, and the last two are switched off.
"""

from __future__ import annotations

import os
import secrets
import tempfile

from acta.local_aws.loopback import HOST
from acta.local_aws.ministack import module
from acta.local_aws.settings import ACCOUNT, REGION, Settings

KEPT = ("PATH", "LANG", "TZ", "HOME", "LD_LIBRARY_PATH")
"""What an interpreter may need to start at all."""


def clean_environment(settings: Settings) -> None:
    """Replace `os.environ`: known settings, loopback only, all files of ministack below the state directory.

    Must run before anything of ministack is imported.
    """
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    os.environ.clear()
    os.environ.update(kept)
    os.environ.update(
        {
            "BIND_HOST": HOST,
            "GATEWAY_PORT": str(settings.port),
            "IOT_MTLS_ENABLED": "0",
            "SFTP_ENABLED": "0",
            "MINISTACK_REGION": REGION,
            "MINISTACK_ACCOUNT_ID": ACCOUNT,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": secrets.token_urlsafe(30),  # "test" is nobody here: `principals.py`
            "AWS_EC2_METADATA_DISABLED": "true",
            "AUTH": "true",  # policies are enforced: `access/policies.py`
            "PERSIST_STATE": "1",
            "STATE_DIR": str(settings.state_dir),
            "S3_PERSIST": "1",
            "S3_DATA_DIR": str(settings.state_dir / "s3"),
            "TMPDIR": str(settings.scratch_dir),
            "LOG_LEVEL": "WARNING",
        }
    )
    tempfile.tempdir = str(settings.scratch_dir)


def leave_host_alone(settings: Settings) -> None:
    """No container engine is touched and no start-up script is run.

    Patches: `app._stop_docker_containers`, `app._docker_socket_present`, `app._run_init_scripts`,
    `app._run_ready_scripts`, `core.container_reaper.start`.
    """
    app = module("app")

    async def no_scripts() -> None:
        return None

    app._stop_docker_containers = lambda include_unlabelled=False: None
    app._docker_socket_present = lambda: False
    app._run_init_scripts = lambda: None
    app._run_ready_scripts = no_scripts
    module("core.container_reaper").start = lambda client: None
