"""The API's document and the page that shows it: `/v1/openapi.json` and `/v1/docs` (design §3, ADR 64).

Both were made when the zip was built, by `infra/document`, and are in it compressed.
"""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from shared.api.app import Api
from shared.api.response.compressed import takes_gzip
from shared.api.response.envelope import JSON, NO_HEADERS, Response
from shared.domain.errors import NotFound

MADE = Path(__file__).parent / "made"
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
    @api.get("/v1/openapi.json")
    def document() -> Response:
        return answer(DOCUMENT, JSON, NO_HEADERS)

    @api.get("/v1/docs")
    def page() -> Response:
        return answer(PAGE, "text/html; charset=utf-8", POLICY)

    @api.get("/v1/docs/{file}")
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
