"""`acta deploy`, `outputs`, `diff`, `releases`, `rollback` and `destroy` with the real cdk, in a local AWS.

The environment is of the local kind, whose templates the local AWS takes, and stands in the operator's repository. The
whole way synthesises two apps; `make test` has the first look at an account (ADR 35).
"""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import WaiterError

from acta.infra.deployed.account import Account, CallerIdentity
from acta.infra.deployed.preflight import Preflight
from acta.infra.deployed.stacks import CloudFormation
from acta.infra.environments import LOCAL
from acta.infra.local.deploy import Commands, local_aws_environ
from acta.infra.local.issuer import LocalIssuer
from acta.infra.local.stack import emulator
from acta.local_aws.emulator_process import ACCOUNT, REGION, EmulatorProcess
from acta.local_aws.reverse_proxy import Front
from tests.e2e.support.deployments import neutral_environ

pytestmark = pytest.mark.e2e
OURS = """
import os
from dataclasses import replace
from acta.infra.environments import LOCAL
from acta.infra.api.issuers import ExternalIssuer
ENVIRONMENTS = [
    replace(
        LOCAL,
        name="trial",
        auth=ExternalIssuer(os.environ["TRIAL_ISSUER"], "acta", roles_are_json=True),
        retain=True,
        tags={"team": "agents"},
        rate_limit=int(os.environ["TRIAL_RATE"]),
    )
]
"""
Acta = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def issuer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalIssuer]:
    front = Front()
    try:
        issuer = LocalIssuer.from_state(tmp_path_factory.mktemp("issuer"), front.url)
        front.publish(issuer.documents())
        yield issuer
    finally:
        front.stop()


@pytest.fixture(scope="module")
def aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmulatorProcess]:
    """A bootstrapped account."""
    folder = tmp_path_factory.mktemp("aws")
    with emulator(state_dir=folder) as running:
        environ = local_aws_environ(neutral_environ(), running.url, running.credentials)
        Commands(environ, folder / "bootstrap.log").cdk("bootstrap", f"aws://{ACCOUNT}/{REGION}", cwd=folder)
        yield running


@pytest.fixture(scope="module")
def acta(aws: EmulatorProcess, tmp_path_factory: pytest.TempPathFactory, issuer: LocalIssuer) -> Acta:
    """Runs a command with the account's credentials in the operator's repository. `rate`: of the environment."""
    folder = tmp_path_factory.mktemp("repository")
    (folder / "environments.py").write_text(OURS)
    (folder / "acta.yaml").write_text("set: trial\n")
    (folder / "deeper").mkdir()
    environ = local_aws_environ(neutral_environ(), aws.url, aws.credentials)

    def run(*words: str, rate: int = 10_000) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [str(Path(sys.executable).parent / "acta"), *words],
            cwd=folder / "deeper",
            env={**environ, "TRIAL_RATE": str(rate), "TRIAL_ISSUER": issuer.url},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


FAILED = "Acta-trial-Sessions"
TRIAL = replace(LOCAL, name="trial")


@pytest.fixture
def cloudformation(aws: EmulatorProcess) -> Any:
    return Account.local(aws.url, aws.credentials.as_arguments()).client("cloudformation")


def fail_to_create(cloudformation: Any) -> None:
    """Leaves a stack of the environment behind as cdk does: its creation failed, and it is protected."""
    machine = {
        "Type": "AWS::StepFunctions::StateMachine",
        "Properties": {"RoleArn": f"arn:aws:iam::{ACCOUNT}:role/x", "DefinitionString": "{}"},
    }
    template = json.dumps({"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}, "Machine": machine}})
    cloudformation.create_stack(StackName=FAILED, TemplateBody=template, EnableTerminationProtection=True)
    with pytest.raises(WaiterError, match="ROLLBACK_COMPLETE"):
        cloudformation.get_waiter("stack_create_complete").wait(StackName=FAILED, WaiterConfig={"Delay": 1})


def test_an_account_without_acta_says_so_and_what_to_do(acta: Acta) -> None:
    for words in (("outputs",), ("destroy", "--yes", "trial")):
        done = acta(words[0], "--env", "trial", *words[1:])
        assert done.returncode == 2
        assert f"account {ACCOUNT}, region {REGION}" in done.stderr
        assert "environment trial is not deployed" in done.stderr
    assert acta("outputs", "--env", "other").returncode == 2


def test_what_would_stop_a_deployment_is_asked_of_the_account(aws: EmulatorProcess) -> None:
    account = Account.local(aws.url, aws.credentials.as_arguments())

    def problems(kind: str) -> list[str]:
        added = {"Acta-trial-Stateful": {"Thing": {"Type": kind}}}
        here = CallerIdentity(ACCOUNT, REGION, "arn")
        preflight = Preflight(TRIAL, here, added, lambda region, service: account.client(service))
        return [each.words for each in preflight.problems()]

    assert problems("AWS::DynamoDB::Table") == []
    (unknown,) = problems("AWS::Nowhere::Thing")
    assert unknown.startswith(f"CloudFormation knows no AWS::Nowhere::Thing in {REGION}")


def test_a_stack_whose_creation_failed_is_seen_and_can_be_deleted(cloudformation: Any) -> None:
    fail_to_create(cloudformation)
    stacks = CloudFormation(REGION, cloudformation)
    assert stacks.deployed(TRIAL) == ()
    (left,) = stacks.deployed(TRIAL, failed=True)
    assert (left.name, left.status, left.protected) == (FAILED, "ROLLBACK_COMPLETE", True)
    assert [*stacks.unprotect_failed(TRIAL)] == [FAILED]
    cloudformation.delete_stack(StackName=FAILED)
    cloudformation.get_waiter("stack_delete_complete").wait(StackName=FAILED, WaiterConfig={"Delay": 1})
    assert stacks.deployed(TRIAL, failed=True) == ()


@pytest.mark.thorough
def test_an_environment_is_deployed_used_changed_and_removed(
    acta: Acta, issuer: LocalIssuer, cloudformation: Any, tmp_path: Path
) -> None:
    env = ("--env", "trial")
    done = acta("deploy", *env)
    assert (done.returncode, "add --yes" in done.stderr) == (2, True)

    fail_to_create(cloudformation)
    done = acta("deploy", *env, "--yes")
    assert done.returncode == 0, done.stderr
    assert f"{FAILED}: its creation failed earlier." in done.stdout
    assert "Acta-trial-Stateless: new, " in done.stdout

    told = json.loads(acta("outputs", *env, "--json").stdout)
    assert (told["account"], told["region"]) == (ACCOUNT, REGION)
    assert told["outputs"].keys() >= {"ApiUrl", "Issuer", "TableName", "BucketName", "StateMachineArn"}
    assert "TableName" in acta("outputs", *env).stdout

    done = acta("posture", *env, "--json")
    points = json.loads(done.stdout)["points"]
    assert (done.returncode, [each for each in points if each["state"] != "has it"]) == (0, [])

    done = acta(
        "verify", *env, "--no-sessions", "--only", "one_release", "--only", "files", "--to", str(tmp_path)
    )
    assert (done.returncode, "trial" in done.stdout) == (0, False), done.stderr
    report = json.loads((tmp_path / "acta-verify.json").read_text())
    assert [each["state"] for each in report["checks"]] == ["passed", "not answered"]

    there = ("--api-url", told["outputs"]["ApiUrl"], "--token", issuer.issue_token("acme", "ann", "member"))
    done = acta("run", "List my files", *there)
    assert (done.returncode, "✔ completed" in done.stdout) == (0, True), done.stderr

    done = acta("diff", *env, "--exit-code")
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("no change") == 3
    assert "Nothing to deploy" in acta("deploy", *env, "--yes").stdout

    done = acta("diff", *env, "--exit-code", rate=77)
    assert (done.returncode, "ThrottlingRateLimit" in done.stdout) == (1, True)
    before = re.findall(r"release (\S+) becomes \S+ in \d+ functions; the code stays", done.stdout)
    assert (len(before), "ACTA_RELEASE" in done.stdout) == (1, False), "what every function gets is one line"
    found = json.loads(acta("diff", *env, "--json", rate=77).stdout)
    states = {name: each["state"] for name, each in found["stacks"].items()}
    assert (states["Acta-trial-Stateful"], states["Acta-trial-Stateless"]) == ("same", "changed")
    assert acta("deploy", *env, "--yes", rate=77).returncode == 0
    assert acta("diff", *env, "--exit-code", rate=77).returncode == 0

    kept = [each["release"] for each in json.loads(acta("releases", *env, "--json").stdout)]
    assert kept[1:] == before
    assert acta("rollback", *env, "--yes").returncode == 0
    done = acta("run", "List my files", *there)
    assert (done.returncode, "✔ completed" in done.stdout) == (0, True), done.stderr

    done = acta("destroy", *env, "--yes", "other")
    assert (done.returncode, "--yes trial" in done.stderr) == (2, True)
    done = acta("destroy", *env, "--yes", "trial")
    assert done.returncode == 0, done.stderr
    stays = done.stdout.partition("What stays:")[2].partition("What goes")[0]
    assert f"table {told['outputs']['TableName']}" in stays
    assert "log /aws/lambda/acta-trial-step" in stays
    assert acta("outputs", *env).returncode == 2

    done = acta("deploy", *env, "--yes")  # takes the logs over that are still there
    assert done.returncode == 0, done.stderr

    assert acta("destroy", *env, "--yes", "trial").returncode == 0
    fail_to_create(cloudformation)
    done = acta("destroy", *env, "--yes", "trial")
    assert done.returncode == 0, done.stderr
    assert f"The creation of {FAILED} failed (ROLLBACK_COMPLETE): what is left of it goes." in done.stdout
    assert "is not deployed" in acta("destroy", *env, "--yes", "trial").stderr
