"""What requests over the API cost at AWS, and what the audit trail and a tenant's credentials have of it (ADR 48, 54).

Each kind is sent to warm functions, one after the other, and everything that passes meanwhile is counted. The sessions
are idle, so no engine runs beside them.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import httpx

from tests.bench.growth import Figures
from tests.bench.stand.exchange import Exchange
from tests.bench.stand.stand import RunFailed, Stand, data_of
from tests.bench.table import cell, columns, heading

AGENT = {"name": "Clerk"}
FILE = "/v1/files/bench/requests.txt"
COLUMNS = (
    "audit_puts",
    "audit_wcu",
    "dynamodb_writes",
    "wcu",
    "dynamodb_reads",
    "rru",
    "s3_requests",
    "sts_requests",
)


def measure(stand: Stand) -> dict[str, Figures]:
    with stand.admin() as api:
        for _ in _sent(api):
            """The first round warms the functions."""
        stand.proxy.take()
        return {kind: figures(stand.proxy.take()) for kind in _sent(api)}


def _sent(api: httpx.Client) -> Iterator[str]:
    """Sends one request after the other, and names each when it is answered."""
    session = data_of(api.post("/v1/sessions", json={}))
    path = f"/v1/sessions/{session['session_id']}"
    yield "start a session, idle"
    data_of(api.get(path))
    yield "poll"
    data_of(api.get("/v1/sessions"))
    yield "list the sessions"
    _expect(api.post(f"{path}/resume", json={}), 409)
    yield "a control that is refused, 409"
    _expect(api.post(f"{path}/messages", json={"content": ""}), 400)
    yield "a request that is not valid, 400"
    data_of(api.post(f"{path}/cancel", json={}))
    yield "cancel"
    _expect(api.delete(path), 204)
    yield "delete a session"
    data_of(api.put(FILE, content=b"x" * 2_048))
    yield "write a file"
    _expect(api.get(FILE), 200)
    yield "read a file"
    _expect(api.delete(FILE), 204)
    yield "delete a file"
    agent = data_of(api.post("/v1/agents", json=AGENT))
    yield "define an agent"
    _expect(api.delete(f"/v1/agents/{agent['agent_id']}"), 204)
    yield "delete an agent"
    data_of(api.get("/v1/audit"))
    yield "read the audit trail"


def figures(passed: Sequence[Exchange]) -> Figures:
    """`audit_…`: puts into the audit trail; the other columns are without them."""
    audit = [each for each in passed if each.is_audit_put]
    others = [each for each in passed if not each.is_audit_put]
    dynamodb = [each for each in others if each.service == "dynamodb"]
    writes = [each for each in dynamodb if each.is_write]
    return {
        "audit_puts": len(audit),
        "audit_wcu": sum(each.capacity.wcu for each in audit),
        "dynamodb_writes": len(writes),
        "wcu": sum(each.capacity.wcu for each in writes),
        "dynamodb_reads": len(dynamodb) - len(writes),
        "rru": sum(each.capacity.rru for each in dynamodb),
        "s3_requests": sum(each.service == "s3" for each in others),
        "sts_requests": sum(each.service == "sts" for each in others),
    }


def _expect(answer: httpx.Response, status: int) -> None:
    if answer.status_code != status:
        asked = answer.request
        raise RunFailed(f"{asked.method} {asked.url.path}: {answer.status_code}, not {status}")


def report(found: Mapping[str, Any]) -> None:
    heading("A request over the API, warm; of DynamoDB and S3 beside the audit trail")
    columns(
        [name.replace("_", " ") for name in COLUMNS],
        [(kind, [cell(row, name) for name in COLUMNS]) for kind, row in found.items()],
    )
