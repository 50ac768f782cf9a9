"""What anybody may ask without a token: `/healthz`, who issues the API's tokens, the document of the API and its page,
and every path and method that has no route (404, 405).

It is a function of its own with no rights beyond its log. So such requests, however many, keep no function busy that
serves people with a token. It uses no store, so it answers in an outage too.

The document and its page were made when the zip was built, by `acta/infra/document` (ADR 64), and are in it
compressed.
"""

from collections.abc import Mapping
from types import MappingProxyType

from acta import __version__
from acta.engine.api.app import Api
from acta.engine.api.envelope import JSON, NO_HEADERS, Response, success, takes_gzip, to_json
from acta.engine.errors import NotFound

DOCUMENT, PAGE = "openapi.json", "page.html"
PARTS: Mapping[str, str] = MappingProxyType(
    {
        "swagger-ui.css": "text/css; charset=utf-8",
        "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
        "start.js": "text/javascript; charset=utf-8",
    }
)
"""The page's files -> their content types."""
POLICY: Mapping[str, str] = MappingProxyType(
    {
        "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    }
)
"""The page loads and asks its own origin, and nothing else."""


def read_document(api: Api) -> Response:
    return _answer(api, DOCUMENT, JSON, NO_HEADERS)


def read_page(api: Api) -> Response:
    return _answer(api, PAGE, "text/html; charset=utf-8", POLICY)


def read_page_file(api: Api, file: str) -> Response:
    if file not in PARTS:
        raise NotFound("There is nothing at this path.")
    return _answer(api, file, PARTS[file], POLICY)


def _answer(api: Api, name: str, content_type: str, headers: Mapping[str, str]) -> Response:
    """The file as it is stored, compressed, for clients that take gzip, as all browsers do; else unpacked."""
    from gzip import decompress  # health and unknown paths do not wait for it

    body, headers = (api.app.made / f"{name}.gz").read_bytes(), {**headers, "Vary": "Accept-Encoding"}
    if not takes_gzip(api.request.headers.get("accept-encoding", "")):
        return Response(200, content_type, decompress(body), headers)
    return Response(200, content_type, body, {**headers, "Content-Encoding": "gzip"})


def read_health(api: Api) -> Response:
    return success({"status": "ok", "version": __version__})


def read_protected_resource(api: Api) -> Response:
    return _protected_resource(api, "")


def read_protected_mcp(api: Api) -> Response:
    return _protected_resource(api, "/mcp")


def _protected_resource(api: Api, path: str) -> Response:
    """Who issues the tokens that the resource takes (RFC 9728)."""
    if not (api.settings.token_issuer and api.settings.public_url):
        raise NotFound("This deployment does not say who issues its tokens.")
    told = {
        "resource": f"{api.settings.public_url}{path}",
        "authorization_servers": [api.settings.token_issuer],
        "bearer_methods_supported": ["header"],
        "resource_name": "Acta",
    }
    return Response(200, JSON, to_json(told))
