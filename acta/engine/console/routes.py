"""The page for people, `/console`, and what it needs to know of this deployment to sign them in (ADR 103).

It is reachable without a token, has no rights beyond its log, and says the same to everybody. All data the page gets
from `/v1`, with the token of whoever has signed in.

The page is one file with its script and its styles in it, so nothing of two releases is ever mixed.
`acta/infra/packaging` makes it of `web/` when the zip is built. Sources of the rules: Content Security Policy
Level 3, and RFC 9110 on `ETag`, `If-None-Match` and `Accept-Encoding`.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from acta.engine.api.app import Api
from acta.engine.api.envelope import Response, success, takes_gzip

PAGE, HASHES = "page.html.gz", "hashes.json"
REVALIDATED = "no-cache"
"""A browser keeps the page, and asks each time whether it is still current."""


class ConsolePage:
    """`connects`: origins besides its own that the page may connect to. The page is read at the first request."""

    def __init__(self, made: Path, connects: Sequence[str]) -> None:
        self._made = made
        self._connects = connects
        self._body = b""
        self._headers: Mapping[str, str] = {}

    def answer(self, asked: Mapping[str, str]) -> Response:
        """`asked`: the request's headers, their names in lower case."""
        if not self._headers:
            hashes = json.loads((self._made / HASHES).read_text(encoding="utf-8"))
            self._body = (self._made / PAGE).read_bytes()
            self._headers = {
                "Content-Security-Policy": _policy(hashes["script"], hashes["style"], self._connects),
                "Cross-Origin-Opener-Policy": "same-origin",
                "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
                "ETag": f'"{hashes["page"]}"',
                "Vary": "Accept-Encoding",
            }
        body, headers = self._body, self._headers
        if takes_gzip(asked.get("accept-encoding", "")):
            headers = {**headers, "Content-Encoding": "gzip"}
        else:
            from gzip import decompress  # every browser takes it compressed

            body = decompress(body)
        return Response(200, "text/html; charset=utf-8", body, headers, cache=REVALIDATED)


def _policy(script: str, style: str, connects: Sequence[str]) -> str:
    """Its own script and styles run, by their hashes, and no other. Nobody may write HTML from text."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src '{script}'",
            f"style-src '{style}'",
            "img-src data: blob:",
            " ".join(("connect-src 'self'", *connects)),
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )


FIRST = "/console/inbox"


def open_console(api: Api) -> Response:
    return Response(302, "", "", {"Location": FIRST})


def read_page_sign_in(api: Api) -> Response:
    return success(
        {
            "issuer": api.settings.console_issuer,
            "client_id": api.settings.console_client,
            "scope": api.settings.console_scopes,
            "takes": api.settings.console_takes,
            "tenant_claim": api.settings.tenant_claim,
            "environment": api.settings.env,
        }
    )


def read_console(api: Api) -> Response:
    """The same answer for every path: the page itself knows its places."""
    return _page(api.app.made, api.settings.console_connects).answer(api.request.headers)


@cache
def _page(made: Path, connects: str) -> ConsolePage:
    return ConsolePage(made, connects.split())
