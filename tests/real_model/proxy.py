"""A LiteLLM proxy in front of the real model's server, as an operator runs one. It asks for a key of its own."""

import json
import os
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx

from acta.infra.packaging.bundle import ROOT
from acta.local_aws.loopback import free_port
from tests.real_model.server import KEY

PROXY_KEY = "sk-local-proxy-key-of-the-test"
START_SECONDS = 120.0
COMMAND = ROOT / ".venv-litellm/bin/litellm"
MODEL = "small"


class Proxy:
    def __init__(self, upstream: str, directory: Path) -> None:
        """`upstream`: the base URL of the model's server. `directory`: for the configuration and the log."""
        behind = {"model": "openai/smollm2", "api_base": upstream, "api_key": KEY}
        config = {
            "model_list": [{"model_name": MODEL, "litellm_params": behind}],
            "general_settings": {"master_key": PROXY_KEY},
        }
        path = directory / "config.yaml"
        path.write_text(json.dumps(config))  # every JSON document is one of YAML
        self._port, self._log = free_port(), directory / "log"
        environ = {
            **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # or it fetches the list of prices from the internet
            "LITELLM_TELEMETRY": "False",
        }
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [str(COMMAND), "--config", str(path), "--host", "127.0.0.1", "--port", str(self._port)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environ,
                cwd=directory,
            )

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    def __enter__(self) -> Self:
        deadline = time.monotonic() + START_SECONDS
        asked = {"Authorization": f"Bearer {PROXY_KEY}"}
        while self._process.poll() is None and time.monotonic() < deadline:
            try:
                if httpx.get(f"{self.base_url}/models", headers=asked, trust_env=False).status_code == 200:
                    return self
            except httpx.TransportError:
                time.sleep(0.1)
        self._stop()
        raise RuntimeError("the proxy did not start:\n" + self._log.read_text()[-2_000:])

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def _stop(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
