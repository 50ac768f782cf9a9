"""An OAuth authorization server on the loopback address, which keeps what it heard."""

import json
from typing import Any
from urllib.parse import parse_qs

from tests.doubles.http_sink import Heard, Reply, Sink


class Authorization(Sink):
    """An authorization server. `methods`: how clients may prove who they are; `lives`: its tokens' seconds."""

    def __init__(self, *methods: str) -> None:
        super().__init__()
        self.methods = methods
        self.lives = 3_600
        self.issuer = self.url("/tenant")
        self.refuses: Reply | None = None

    def parse(self, data: bytes) -> dict[str, str]:
        return {name: values[0] for name, values in parse_qs(data.decode()).items()}

    def reply_to(self, heard: Heard) -> Reply:
        if heard.path == "/.well-known/oauth-authorization-server/tenant":
            metadata: dict[str, Any] = {"issuer": self.issuer, "token_endpoint": self.url("/token")}
            if self.methods:
                metadata["token_endpoint_auth_methods_supported"] = list(self.methods)
            return Reply(body=json.dumps(metadata).encode())
        if heard.path == "/token" and self.refuses is not None:
            return self.refuses
        if heard.path == "/token":
            token = {
                "access_token": f"token-{len(self.asked)}",
                "token_type": "Bearer",
                "expires_in": self.lives,
            }
            return Reply(body=json.dumps(token).encode())
        return Reply(404)

    @property
    def asked(self) -> list[Heard]:
        """For tokens."""
        return [heard for heard in self.heard if heard.path == "/token"]
