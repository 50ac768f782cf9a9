"""The process of Phoenix, seen from a test."""

import os
import subprocess
import time
from pathlib import Path
from typing import Any, Self

import httpx

from acta.infra.packaging.bundle import ROOT
from acta.local_aws.loopback import free_port

PYTHON = ROOT / ".venv-otlp/bin/python"
START_SECONDS = 180.0
LOOK_SECONDS = 0.5
PAGE = 1_000


class Phoenix:
    """`folder`: where it keeps its database and its log."""

    def __init__(self, folder: Path) -> None:
        self._port = free_port()
        self._log = folder / "log"
        environ = {
            **os.environ,
            "PHOENIX_HOST": "127.0.0.1",
            "PHOENIX_PORT": str(self._port),
            "PHOENIX_WORKING_DIR": str(folder),
            "PHOENIX_TELEMETRY_ENABLED": "false",
            "PHOENIX_ALLOW_EXTERNAL_RESOURCES": "false",
        }
        with self._log.open("w") as out:
            self._process = subprocess.Popen(
                [str(PYTHON), "-P", str(Path(__file__).with_name("serve.py"))],
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
            )

    @property
    def _url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def traces_url(self) -> str:
        return f"{self._url}/v1/traces"

    def wait(self) -> Self:
        """Until it answers. Raises RuntimeError with the end of its log."""
        deadline = time.monotonic() + START_SECONDS
        while self._process.poll() is None and time.monotonic() < deadline:
            try:
                if httpx.get(f"{self._url}/healthz", trust_env=False).status_code == 200:
                    return self
            except httpx.TransportError:
                pass
            time.sleep(LOOK_SECONDS)
        self.stop()
        raise RuntimeError("Phoenix did not start:\n" + self._log.read_text()[-2_000:])

    def spans(self, session_id: str) -> list[dict[str, Any]]:
        """All that it has of the session, as its own API tells them."""
        found: list[dict[str, Any]] = []
        cursor: str | None = None
        while True:
            query = {"limit": str(PAGE), **({"cursor": cursor} if cursor else {})}
            answer = httpx.get(f"{self._url}/v1/projects/default/spans", params=query, trust_env=False)
            if answer.status_code == 404:  # the first span makes the project
                return []
            told = answer.raise_for_status().json()
            found += [
                span
                for span in told["data"]
                if span["attributes"].get("gen_ai.conversation.id") == session_id
            ]
            cursor = told["next_cursor"]
            if not cursor:
                return found

    def stop(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
