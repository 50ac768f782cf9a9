"""What anybody may ask without a token: `/healthz`, who issues the API's tokens, the document of the API and its page,
and every path and method that has no route (404, 405).

It is a function of its own with no rights beyond its log. So whoever asks for nothing in particular, however often,
keeps no function busy that serves people with a token. It uses no store, so it answers in an outage too.
"""

from pathlib import Path

from functions.fallback.document import MADE, add_document
from shared.api.app import Api
from shared.api.response.envelope import JSON, Response, success, to_json
from shared.domain.errors import NotFound
from shared.settings import Settings

MOVED = {"/console/": "/console"}
"""The gateway's routes end with no slash."""


def build(settings: Settings, made: Path = MADE) -> Api:
    """`made`: the folder with the document and its page."""
    api = Api("fallback", settings)
    api.moved = MOVED

    @api.get("/healthz")
    def health() -> Response:
        return success({"status": "ok"})

    @api.get("/.well-known/oauth-protected-resource")
    def protected() -> Response:
        return protected_resource("")

    @api.get("/.well-known/oauth-protected-resource/mcp")
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
