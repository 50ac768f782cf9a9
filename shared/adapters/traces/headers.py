"""What requests to the receiver of spans carry besides their content: the operator's key."""

import json
import os
from collections.abc import Mapping

from shared.adapters.aws.secrets import secret_text
from shared.adapters.traces.otlp import Headers
from shared.ports.outside.traces import SpansNotDelivered
from shared.settings import Settings

LOCAL_HEADERS = "ACTA_TRACES_HEADERS"
"""The headers themselves, for a local stack, which has no secret of its own."""


def headers_of(settings: Settings) -> Headers:
    return lambda target, body: _of_secret(settings)


def _of_secret(settings: Settings) -> Mapping[str, str]:
    """A JSON object: name of a header -> its value. Raises SpansNotDelivered where it is none, and what the secret's
    reader raises.
    """
    name = settings.traces_secret_name
    text = secret_text(name) if name else os.environ.get(LOCAL_HEADERS, "")
    if not text and not name:
        return {}
    try:
        headers = json.loads(text)
    except ValueError:
        headers = None
    if not isinstance(headers, dict) or not all(isinstance(value, str) for value in headers.values()):
        raise SpansNotDelivered("the secret is not a JSON object of headers")
    return headers
