"""GET requests for JSON, limited in time and size, without redirects and retries.

urllib3 comes with the AWS SDK of Lambda's runtime. It is imported at the first request.
"""

import json
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shared.domain.errors import ToolFailed

if TYPE_CHECKING:
    import urllib3


MAX_BYTES = 262_144
CHUNK_BYTES = 16_384


class BoundedGet:
    """`service`: the service's name in error messages for the model."""

    def __init__(self, service: str) -> None:
        self._service = service
        self._pool: urllib3.PoolManager | None = None

    def json(self, url: str, query: Mapping[str, str], seconds: float) -> dict[str, Any]:
        """The JSON object at `url`. `seconds`: for everything together, see `MAX_SECONDS` in
        `shared/adapters/tools/builtin/weather.py`. Raises ToolFailed where there is none.
        """
        from urllib3.exceptions import HTTPError

        try:
            status, body = self._fetch(url, query, seconds)
        except (HTTPError, TimeoutError, OSError):
            raise self._failed("did not answer") from None
        if status != 200:
            raise self._failed(f"answered with status {status}")
        try:
            value = json.loads(body)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise self._failed("answered with something else than JSON")
        return value

    def _fetch(self, url: str, query: Mapping[str, str], seconds: float) -> tuple[int, bytes]:
        import urllib3

        if self._pool is None:
            self._pool = urllib3.PoolManager(retries=False, maxsize=1)
        deadline = time.monotonic() + seconds
        response = self._pool.request(
            "GET",
            url,
            fields=dict(query),
            headers={"Accept": "application/json", "User-Agent": "acta"},
            timeout=urllib3.Timeout(total=seconds),
            redirect=False,
            preload_content=False,
        )
        whole = False
        try:
            body = b""
            for chunk in response.stream(CHUNK_BYTES):
                body += chunk
                if len(body) > MAX_BYTES:
                    raise self._failed("answered with too much")
                if time.monotonic() > deadline:
                    raise TimeoutError
            whole = True
            return response.status, body
        finally:
            response.release_conn() if whole else response.close()

    def _failed(self, how: str) -> ToolFailed:
        return ToolFailed(f"the {self._service} {how}. Try again later, or go on without it.")
