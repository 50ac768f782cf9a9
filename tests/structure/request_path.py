"""Which files one request passes: from POST /v1/sessions over the planning turn to the first Think commit.

The real handlers run in this process, on moto and the offline model. A file counts when one of its functions is called
on the way; what runs while modules are imported does not.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from tests.structure.modules import PRODUCT, ROOT

REGION, NAME = "us-east-1", "structure"
STUB = '{"StartAt": "Done", "States": {"Done": {"Type": "Succeed"}}}'
ROLE = "arn:aws:iam::123456789012:role/engine"
STAND_IN = "shared/acta_engine/models/offline"
"""The model's stand-in is not part of the way: a provider would be asked in its place."""


def files_passed() -> set[Path]:
    """The product's files, relative to the root."""
    from moto import mock_aws

    os.environ |= {
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "POWERTOOLS_LOG_LEVEL": "CRITICAL",
        "POWERTOOLS_METRICS_DISABLED": "true",
    }
    with mock_aws():
        _make_stores()
        return _run()


def _make_stores() -> None:
    from acta_engine.aws.clients import make_client
    from tests.stores.backends import moto_aws

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


def _run() -> set[Path]:

    from acta_engine.app import App
    from acta_engine.turn.engine_decision import position
    from functions.start import handler as start
    from functions.step import handler as step
    from tests.api.gateway import TENANT, Context, Gateway

    with _recorded() as passed:
        answer = Gateway(start.handler).request(
            "POST", "/v1/sessions", json_body={"content": "List all files and write a summary to summary.md"}
        )
        assert answer.status == 202
    repository = App().repository
    at = position(repository.newest(TENANT, answer.data["session_id"]).head).model_dump(mode="json")
    with _recorded() as more:
        decision = step.handler({"op": "plan", "at": at}, Context())
        assert decision["next"] == "think"
        step.handler({"op": "think", "at": decision["at"]}, Context())
    return {path for path in passed | more if not str(path).startswith(STAND_IN)}


@contextmanager
def _recorded() -> Iterator[set[Path]]:
    """Fills the set with the product's files whose functions are called meanwhile."""
    passed: set[Path] = set()
    known: dict[str, Path | None] = {}

    def called(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_name != "<module>":
            name = frame.f_code.co_filename
            if name not in known:
                path = Path(name)
                inside = path.is_relative_to(ROOT) and path.relative_to(ROOT).as_posix().startswith(PRODUCT)
                known[name] = path.relative_to(ROOT) if inside else None
            found = known[name]
            if found is not None:
                passed.add(found)

    sys.setprofile(called)
    try:
        yield passed
    finally:
        sys.setprofile(None)
