"""Where spans go, and what the requests carry besides them: the operator's key, or for X-Ray AWS's signature."""

import json
import os
from collections.abc import Mapping
from typing import Any

from shared.adapters.aws.secrets import secret_text
from shared.adapters.egress.address import Target
from shared.adapters.traces.otlp import CONTENT_TYPE, Headers
from shared.ports.outside.traces import SpansNotDelivered
from shared.settings import Settings

LOCAL_HEADERS = "ACTA_TRACES_HEADERS"
"""The headers themselves, for a local stack, which has no secret of its own."""


REGION = "AWS_REGION"
"""Lambda's own variable."""


def addressed(settings: Settings) -> Settings:
    """The settings with the endpoint's URL, for X-Ray that of the function's region. Source: CloudWatch user guide,
    "OTLP Endpoints".
    """
    if not settings.traces_xray:
        return settings
    region = os.environ[REGION]
    suffix = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    return settings.model_copy(update={"traces_url": f"https://xray.{region}.{suffix}/v1/traces"})


def headers_of(settings: Settings) -> Headers:
    if settings.traces_xray:
        return Signature(os.environ[REGION])
    return lambda target, body: _of_secret(settings)


class Signature:
    """Signs requests with the function's role, as AWS Signature Version 4 for the service `xray`. `credentials`: as
    botocore has them; None: the process's own.
    """

    def __init__(self, region: str, credentials: Any = None) -> None:
        self._region = region
        self._credentials = credentials

    def __call__(self, target: Target, body: bytes) -> Mapping[str, str]:
        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest
        from botocore.session import get_session

        if self._credentials is None:
            self._credentials = get_session().get_credentials()
        url = f"{target.scheme}://{target.host}{target.path}"
        request = AWSRequest("POST", url, data=body, headers={"Content-Type": CONTENT_TYPE})
        SigV4Auth(self._credentials.get_frozen_credentials(), "xray", self._region).add_auth(request)
        return {name: value for name, value in request.headers.items() if name != "Content-Type"}


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
