"""Before a state machine invokes a Lambda, a program outside may be asked, and may refuse. So a test can have the
Lambda service throttle or fail for some executions and not for others, which nothing of AWS's API does.
"""

from __future__ import annotations

import http.client
import json
from typing import Any
from urllib.parse import urlsplit

from acta.local_aws.settings import Settings
from acta.local_aws.step_functions import errors

PATIENCE_SECONDS = 120.0

_url: str | None = None


def ask_before_invocations(settings: Settings) -> None:
    """What `--invocation-check` names is asked from now on. Patches nothing: `resource` calls `check`."""
    global _url
    _url = settings.invocation_check_url


def check(function: str, event: Any) -> None:
    """Sends `{"function", "event"}` by POST. 204 lets the invocation happen; `{"error", "cause"}` is raised as a state
    error; no answer is `Lambda.SdkClientException`, as a Lambda service that cannot be reached is.
    """
    if _url is None:
        return
    parts = urlsplit(_url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=PATIENCE_SECONDS)
    try:
        connection.request("POST", parts.path or "/", body=json.dumps({"function": function, "event": event}))
        answer = connection.getresponse()
        body = answer.read()
    except (OSError, http.client.HTTPException) as error:
        raise errors.failed("Lambda.SdkClientException", f"no answer: {type(error).__name__}") from None
    finally:
        connection.close()
    if answer.status != 204:
        refused = json.loads(body)
        raise errors.failed(refused["error"], refused["cause"])
