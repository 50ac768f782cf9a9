"""What passed during a request is told apart: the audit trail's puts, the tenant's own items, STS."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from acta.engine.audit.record import AuditRecord
from acta.engine.audit.trail import record_item
from tests.bench.figures.requests import figures
from tests.bench.stand.exchange import Exchange, exchange


def put(item: dict[str, Any]) -> Exchange:
    headers = {"x-amz-target": "DynamoDB_20120810.PutItem"}
    body = json.dumps({"TableName": "t", "Item": item}).encode()
    return exchange("POST", "/", headers, body, 200, b"{}", sent=0, received=0)


def test_puts_into_the_trail_are_counted_apart_from_others() -> None:
    record = AuditRecord(audit_id="aud_01", at=datetime(2026, 1, 1, tzinfo=UTC), who="p", action="file.write")
    asked = exchange("POST", "/", {}, b"Action=AssumeRole&Version=2011-06-15", 200, b"", sent=0, received=0)
    commit = {"pk": {"S": "T#a#S#s"}, "sk": {"S": "C#1"}, "j": {"S": "x" * 2_000}}
    found = figures([put(record_item("a", record, timedelta())), put(commit), asked])
    assert (found["audit_puts"], found["audit_wcu"]) == (1, 1)
    assert (found["dynamodb_writes"], found["wcu"], found["dynamodb_reads"]) == (1, 2, 0)
    assert (found["sts_requests"], found["s3_requests"]) == (1, 0)
