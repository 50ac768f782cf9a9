"""`acta verify` on a deployed stack: what the local AWS can answer is answered, and nothing else is called passed."""

import json
from pathlib import Path
from typing import Any

import pytest

from acta.cli.local_stack import LOCAL_TENANT
from acta.cli.operations.verify import aws, changes
from acta.cli.operations.verify.checks import Verified
from acta.cli.operations.verify.report import JSON_FILE, MARKDOWN_FILE
from acta.cli.operations.verify.table import CHECKS
from acta.infra.deployed.account import Account
from acta.infra.deployed.stacks import stack_outputs
from acta.infra.environments import LOCAL
from acta.local_aws.emulator_process import ACCOUNT
from tests.conftest import Deployed
from tests.doubles.iam.policies import Ask, is_allowed
from tests.e2e.support.behind import Behind
from tests.e2e.support.command import acta

NOT_HERE = {"keys", "sign_in", "rollback", "tools_apart", "spans", "notified"}
"""What this stack does not have: a key, a sign-in by browser, an earlier release, isolated tools, receivers."""


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


class Simulating(Account):
    """The local AWS, with IAM's simulator: what it says is evaluated from the policies that it is given."""

    def client(self, service: str, **how: Any) -> Any:
        found = super().client(service, **how)
        if service == "iam":
            found.simulate_custom_policy = simulate
        return found


def simulate(**asked: Any) -> dict[str, Any]:
    context = {each["ContextKeyName"]: each["ContextKeyValues"] for each in asked["ContextEntries"]}
    (action,), (resource,) = asked["ActionNames"], asked["ResourceArns"]
    (boundary,) = asked["PermissionsBoundaryPolicyInputList"]
    identity = [json.loads(each) for each in asked["PolicyInputList"]]
    allowed = is_allowed(Ask(action, resource, context), identity, json.loads(boundary))
    return {"EvaluationResults": [{"EvalDecision": "allowed" if allowed else "implicitDeny"}]}


@pytest.mark.thorough
def test_the_questions_to_iam_fit_the_roles_that_are_deployed(deployed: Deployed, behind: Behind) -> None:
    account = Simulating(*Account.local(deployed.aws_endpoint_url, deployed.credentials.as_arguments()))
    outputs = stack_outputs("local", account.client("cloudformation"))
    asked = Verified(LOCAL, account, outputs)
    assert aws.tenants_are_apart(asked) == {"questions": 6}

    answered = behind.client("lambda").invoke(
        FunctionName="acta-local-fallback", Qualifier="live", Payload=json.dumps(changes.HEALTH).encode()
    )
    assert json.loads(answered["Payload"].read())["statusCode"] == 200
