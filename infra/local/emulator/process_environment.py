"""The emulator's own environment: known settings only, all on loopback, all below one directory.

Closes two differences at once. ministack binds every address unless told otherwise (HTTP by `BIND_HOST`,
MQTT by `IOT_MTLS_ENABLED`, SFTP by `SFTP_ENABLED`), and it obeys dozens of variables a developer's shell
may hold (`AWS_ENDPOINT_URL`, `AUTH`, `LAMBDA_EXECUTOR`, `SFN_WAIT_SCALE`, …). So the environment is
replaced, not extended.
"""

from __future__ import annotations

import os
import tempfile

from infra.local.emulator.settings import ACCOUNT, HOST, REGION, Settings

KEPT = ("PATH", "LANG", "TZ", "HOME", "LD_LIBRARY_PATH")
"""What an interpreter may need to start at all."""


def clean(settings: Settings) -> None:
    """Replace `os.environ`; must run before anything of ministack is imported."""
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
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_EC2_METADATA_DISABLED": "true",
            "PERSIST_STATE": "1",
            "STATE_DIR": str(settings.state_dir),
            "S3_PERSIST": "1",
            "S3_DATA_DIR": str(settings.state_dir / "s3"),
            "TMPDIR": str(settings.scratch_dir),
            "LOG_LEVEL": "WARNING",
        }
    )
    tempfile.tempdir = str(settings.scratch_dir)
