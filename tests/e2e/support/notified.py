"""Notifications on the deployed stack: the stream is read, and what a receiver hears verifies."""

import base64
import hashlib
import hmac
import json
from collections.abc import Iterator
from contextlib import contextmanager

from tests.doubles.http_sink import Heard
from tests.e2e.support.behind import Behind

NOTIFY = "acta-local-notify"
SAME = ("EventSourceArn", "BatchSize", "FilterCriteria", "MaximumRecordAgeInSeconds")


@contextmanager
def stream_is_read(behind: Behind) -> Iterator[None]:
    """The deployed mapping stays off, as in every local stack that names no webhook. Its twin begins now: the local AWS
    takes the stream's end when the mapping is made, so the changes of other tests are not read first.
    """
    lambdas = behind.client("lambda")
    mappings = lambdas.list_event_source_mappings(FunctionName=NOTIFY)["EventSourceMappings"]
    (deployed,) = (each for each in mappings if ":dynamodb:" in each["EventSourceArn"])
    assert deployed["FunctionArn"].endswith(f"{NOTIFY}:live")
    twin = lambdas.create_event_source_mapping(
        FunctionName=deployed["FunctionArn"],
        StartingPosition="LATEST",
        **{name: deployed[name] for name in SAME},
    )
    try:
        yield
    finally:
        lambdas.delete_event_source_mapping(UUID=twin["UUID"])


def verifies(heard: Heard, secret: str) -> bool:
    """As a receiver does it, on the bytes that were signed. `secret`: `whsec_` and base64."""
    body = json.dumps(heard.body, separators=(",", ":"), ensure_ascii=False).encode()
    signed = f"{heard.headers['webhook-id']}.{heard.headers['webhook-timestamp']}.".encode() + body
    digest = hmac.new(base64.b64decode(secret.removeprefix("whsec_")), signed, hashlib.sha256).digest()
    return heard.headers["webhook-signature"] == "v1," + base64.b64encode(digest).decode()
