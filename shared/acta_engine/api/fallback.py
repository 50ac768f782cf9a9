"""What anybody may ask without a token: `/healthz`, who issues the API's tokens, the document of the API and its page,
and every path and method that has no route (404, 405).

It is a function of its own with no rights beyond its log. So whoever asks for nothing in particular, however often,
keeps no function busy that serves people with a token. It uses no store, so it answers in an outage too.

The document and its page were made when the zip was built, by `infra/acta_infra/document` (ADR 64), and are in it
compressed.
"""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from acta_engine.api.app import Api
from acta_engine.api.envelope import JSON, NO_HEADERS, Response, success, takes_gzip, to_json
from acta_engine.errors import NotFound
from acta_engine.settings import Settings

DOCUMENT, PAGE = "openapi.json", "page.html"
PARTS: Mapping[str, str] = MappingProxyType(
    {
        "swagger-ui.css": "text/css; charset=utf-8",
        "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
        "start.js": "text/javascript; charset=utf-8",
    }
)
"""What the page is made of -> its type."""
POLICY: Mapping[str, str] = MappingProxyType(
    {
        "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    }
)
"""The page loads and asks its own origin, and nothing else."""


def add_document(api: Api, made: Path) -> None:
    @api.on("readDocument")
    def document() -> Response:
        return answer(DOCUMENT, JSON, NO_HEADERS)

    @api.on("readPage")
    def page() -> Response:
        return answer(PAGE, "text/html; charset=utf-8", POLICY)

    @api.on("readPageFile")
    def part(file: str) -> Response:
        if file not in PARTS:
            raise NotFound("There is nothing at this path.")
        return answer(file, PARTS[file], POLICY)

    def answer(name: str, content_type: str, headers: Mapping[str, str]) -> Response:
        """As it is stored for who takes gzip, which everybody's browser does."""
        from gzip import decompress  # health and unknown paths do not wait for it

        body, headers = (made / f"{name}.gz").read_bytes(), {**headers, "Vary": "Accept-Encoding"}
        if not takes_gzip(api.request.headers.get("accept-encoding", "")):
            return Response(200, content_type, decompress(body), headers)
        return Response(200, content_type, body, {**headers, "Content-Encoding": "gzip"})


MOVED = {"/console/": "/console"}
"""The gateway's routes end with no slash."""


def build(settings: Settings, made: Path) -> Api:
    """`made`: the folder with the document and its page."""
    api = Api("fallback", settings)
    api.moved = MOVED

    @api.on("readHealth")
    def health() -> Response:
        return success({"status": "ok"})

    @api.on("readProtectedResource")
    def protected() -> Response:
        return protected_resource("")

    @api.on("readProtectedMcp")
    def protected_mcp() -> Response:
        return protected_resource("/mcp")

    def protected_resource(path: str) -> Response:
        """Who issues the tokens that the resource takes (RFC 9728)."""
        if not (settings.token_issuer and settings.public_url):
            raise NotFound("This deployment does not say who issues its tokens.")
        told = {
            "resource": f"{settings.public_url}{path}",
            "authorization_servers": [settings.token_issuer],
            "bearer_methods_supported": ["header"],
            "resource_name": "Acta",
        }
        return Response(200, JSON, to_json(told))

    add_document(api, made)
    return api
