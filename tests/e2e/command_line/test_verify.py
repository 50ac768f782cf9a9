"""`acta verify` on a deployed stack: what the local AWS can answer is answered, and nothing else is called passed."""

import json
from pathlib import Path

import pytest

from acta.cli.local_stack import LOCAL_TENANT
from acta.cli.operations.verify.report import JSON_FILE, MARKDOWN_FILE
from acta.cli.operations.verify.table import CHECKS
from acta.local_aws.emulator_process import ACCOUNT
from tests.conftest import Deployed
from tests.e2e.support.command import acta

NOT_HERE = {"keys", "sign_in", "rollback", "tools_apart", "spans"}
"""What this stack does not have: a key, a sign-in by browser, an earlier release, isolated tools, traces."""


@pytest.mark.thorough
def test_everything_is_asked_once_and_the_report_says_nothing_of_anybody(
    deployed: Deployed, tmp_path: Path
) -> None:
    here = ("--state", str(deployed.state))
    before = acta("sessions", *here, "--json").out
    done = acta("verify", *here, "--changes", "--yes", "--to", str(tmp_path), "--json")
    told = json.loads(done.out)
    states = {each["check"]: each["state"] for each in told["checks"]}
    assert (done.code, told["failed"]) == (0, 0), (done.out, done.err)
    assert list(states) == [each.name for each in CHECKS]
    answered_here = {each.name for each in CHECKS if not each.not_here} - NOT_HERE
    assert {name for name, state in states.items() if state == "passed"} == answered_here
    assert told["place"] == "the local AWS"
    assert acta("sessions", *here, "--json").out == before, "sessions of the checks are deleted"

    report = (tmp_path / JSON_FILE).read_text() + (tmp_path / MARKDOWN_FILE).read_text()
    for secret in (
        ACCOUNT,
        deployed.url,
        "arn:",
        "ses_",
        LOCAL_TENANT,
        '"you"',
        "acta-verify.txt",
        "127.0.0.1",
    ):
        assert secret not in report
