"""Which files a request passes, leg by leg: the start of a session, its planning turn, a thinking turn, a tool call.

The real handlers run in this process, on moto and the offline model. A file counts when one of its functions is called
on the way; what runs while modules are imported does not.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

from tests.structure.modules import PRODUCT, ROOT, lines

REGION, NAME = "us-east-1", "structure"
STUB = '{"StartAt": "Done", "States": {"Done": {"Type": "Succeed"}}}'
ROLE = "arn:aws:iam::123456789012:role/engine"
STAND_IN = "acta/engine/models/offline"
"""The model's stand-in is not part of the way, and neither is what it calls: a provider would be asked in its place."""
IN_PLACE_OF_AWS = ("acta/embedded", "acta/local_aws")
"""Hand a request to the function, as a gateway of AWS would: they are not on the way in the function."""


@dataclass
class Leg:
    """What one leg of a request passes."""

    calls: list[Path] = field(default_factory=list)
    """The file of each call of a product function, relative to the root, in order."""

    @property
    def files(self) -> set[Path]:
        return set(self.calls)

    @property
    def lines(self) -> int:
        return sum(lines(ROOT / path) for path in self.files)

    @property
    def file_changes(self) -> int:
        return sum(before != after for before, after in pairwise(self.calls))

    @property
    def folder_changes(self) -> int:
        """How often the next call is in another folder than the last one."""
        folders = [path.parent for path in self.calls]
        return sum(before != after for before, after in pairwise(folders))


def legs() -> dict[str, Leg]:
    """By name: `start`, `plan`, `think` and `tool`, each the first of a new session in a new process."""
    from moto import mock_aws

    os.environ |= {
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "POWERTOOLS_LOG_LEVEL": "CRITICAL",
        "POWERTOOLS_METRICS_DISABLED": "true",
    }
    with mock_aws():
        return _walked(_made_stores())


def _made_stores() -> Any:
    from acta.engine.aws.clients import make_client
    from tests.stores.backends import aws_stores, moto_aws

    aws = moto_aws()
    machine = make_client("stepfunctions").create_state_machine(name=NAME, definition=STUB, roleArn=ROLE)
    os.environ |= {
        "ACTA_ENV": "local",
        "ACTA_IS_LOCAL": "true",
        "ACTA_TABLE": aws.table,
        "ACTA_AUDIT_TABLE": aws.table,  # no other item begins like its records
        "ACTA_BUCKET": aws.bucket,
        "ACTA_STATE_MACHINE_ARN": machine["stateMachineArn"],
        "ACTA_PROVIDER": "offline",
        "ACTA_OFFLINE": "true",
    }
    return aws_stores(aws)


def _walked(stores: Any) -> dict[str, Leg]:
    from acta.engine.turn.engine import position
    from acta.functions.start import handler as start
    from acta.functions.step import handler as step
    from acta.functions.tool import handler as tool
    from tests.api.gateway import TENANT, Context, Gateway

    found = {name: Leg() for name in ("start", "plan", "think", "tool")}
    gateway = Gateway(start.handler)
    with _recorded(found["start"]):
        answer = gateway.request(
            "POST", "/v1/sessions", json_body={"content": "List all files and write a summary to summary.md"}
        )
    assert answer.status == 202
    head = stores.log.latest(TENANT, answer.data["session_id"]).head
    at = position(head).model_dump(mode="json")
    with _recorded(found["plan"]):
        decision = step.handler({"op": "plan", "at": at}, Context())
    assert decision["next"] == "act"
    event = {"op": "tool", "at": decision["at"], "call_id": decision["calls"][0], "attempt": 0}
    with _recorded(found["tool"]):
        tool.handler(event, Context())
    with _recorded(found["think"]):
        decision = step.handler({"op": "think", "at": decision["at"]}, Context())
    assert decision["next"] == "act"
    return found


@contextmanager
def _recorded(leg: Leg) -> Iterator[None]:
    """Notes the calls of the product's functions that are made meanwhile."""
    known: dict[str, Path | None] = {}
    outside = 0
    """How many calls under way are imports or the stand-in's."""

    def called(frame: FrameType, event: str, _: object) -> None:
        nonlocal outside
        name = frame.f_code.co_filename
        if frame.f_code.co_name == "<module>" or STAND_IN in name:
            outside += {"call": 1, "return": -1}.get(event, 0)
        elif event == "call" and not outside:
            if name not in known:
                path = Path(name)
                place = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else ""
                is_on_the_way = place.startswith(PRODUCT) and not place.startswith(IN_PLACE_OF_AWS)
                known[name] = path.relative_to(ROOT) if is_on_the_way else None
            found = known[name]
            if found is not None:
                leg.calls.append(found)

    sys.setprofile(called)
    try:
        yield
    finally:
        sys.setprofile(None)
