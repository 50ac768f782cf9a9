"""Where a request came from: through the deployment's own front, and from which address.

With CloudFront and a firewall in front of the API (`Environment.edge`), the API can still be reached by its own name.
Such a request has not passed the firewall. CloudFront sends a secret along with what it passes on; a request without
it is refused before anything else is looked at. The functions know the secret's SHA-256 only. The secret is random and
long, so its hash tells nothing of it and may stand in a function's environment.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

from shared.domain.errors import Forbidden
from shared.settings import Settings

SECRET_HEADER = "x-acta-origin"
ADDRESS_HEADER = "x-acta-address"
"""Both are set by the front, and whatever a client sends under these names is replaced there."""


def check_origin(headers: Mapping[str, str], settings: Settings) -> None:
    """`headers`: by lower-case name. Raises Forbidden for a request that went round the front, where there is one."""
    if not settings.origin_hashes:
        return
    sent = hashlib.sha256(headers.get(SECRET_HEADER, "").encode("utf-8", "surrogatepass")).hexdigest()
    # Hashes are compared, so the time that it takes tells nothing of the secret.
    if sent not in settings.origin_hashes.split(","):
        raise Forbidden("Use the deployment's own address. This one takes requests of its front only.")


def source_address(event: Mapping[str, Any], headers: Mapping[str, str], settings: Settings) -> str:
    """The client's address, IPv4 or IPv6, of a request whose origin has been checked. Empty where nobody says."""
    if settings.origin_hashes:
        return headers.get(ADDRESS_HEADER, "")
    http = event.get("requestContext", {}).get("http", {})
    return str(http.get("sourceIp", ""))
