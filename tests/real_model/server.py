"""The process of the real model's server, seen from a test."""

import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx

from acta.infra.packaging.bundle import ROOT
from acta.local_aws.loopback import free_port

KEY = "sk-local-model-key-of-the-test"
START_SECONDS = 60.0
PYTHON = ROOT / ".venv-model/bin/python"


class ModelServer:
    """Starts at once; it listens before it has loaded its model, and answers 503 until then."""

    def __init__(self, log: Path) -> None:
        self._port = free_port()
        self._log = log
        with log.open("w") as errors:
            self._process = subprocess.Popen(
                [str(PYTHON), "-P", str(Path(__file__).with_name("serve.py")), str(self._port), KEY],
                stdin=subprocess.PIPE,
                stdout=errors,
                stderr=errors,
            )

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def runs(self) -> bool:
        return self._process.poll() is None

    def wait(self) -> Self:
        """Until it has its model. Raises RuntimeError with the end of its log."""
        asked = {"Authorization": f"Bearer {KEY}"}
        deadline = time.monotonic() + START_SECONDS
        while self.runs and time.monotonic() < deadline:
            try:
                if httpx.get(f"{self.base_url}/models", headers=asked, trust_env=False).status_code == 200:
                    return self
            except httpx.TransportError:
                pass
            time.sleep(0.02)
        self.stop()
        raise RuntimeError("the model's server did not start:\n" + self._log.read_text()[-2_000:])

    def stop(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
