"""What an operator's credentials need stands in the runbook: each call of AWS that the commands make is among it."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from acta.infra.deployed.tenants.backup import Bucket, back_up
from acta.infra.deployed.tenants.erase import erase_tenant, erase_user
from acta.infra.deployed.tenants.restore import restore
from tests.in_process.house import TENANT, USER
from tests.stores.backends import Aws
from tests.tenants.test_backup import OTHER, TURNS, ended, told
from tests.tenants.test_erase import Deployment, deployment, secretsmanager
from tests.tenants.test_restored_table import DELETING, waiting
from tests.tenants.test_restored_table import Deployment as RestoredDeployment

__all__ = ["deployment", "secretsmanager"]

PAGE = Path(__file__).parents[2] / "docs" / "operations.md"
BACKUPS, ERASURES, RECOVERY = (
    "Backing up and restoring a tenant",
    "A tenant, or a person in it",
    "The data is damaged",
)
S3 = {
    "ListObjectsV2": {"ListBucket"},
    "ListObjectVersions": {"ListBucketVersions"},
    "HeadObject": {"GetObject"},
    "DeleteObjects": {"DeleteObject", "DeleteObjectVersion"},
}
"""Operation -> IAM's actions, where they are called otherwise. Source: Service Authorization Reference, Amazon S3."""


def documented(*headings: str) -> set[str]:
    """The actions that stand behind "What your credentials need" below these headings."""
    text, found = PAGE.read_text(encoding="utf-8"), set[str]()
    for heading in headings:
        _, _, rest = re.split(rf"^(#+) {re.escape(heading)}$", text, maxsplit=1, flags=re.MULTILINE)
        section = re.split(r"^#+ ", rest, maxsplit=1, flags=re.MULTILINE)[0]
        found |= set(re.findall(r"`([a-z0-9-]+:[A-Za-z]+)`", section))
    return found


class Calls:
    def __init__(self) -> None:
        self.actions: set[str] = set()

    def note(self, model: Any, params: Any, **_: Any) -> None:
        service, operation = model.service_model.service_name, model.name
        if operation == "TransactWriteItems":  # DynamoDB checks the actions in it
            self.actions |= {
                f"dynamodb:{kind}Item" for kind in re.findall(r'"(Put|Update|Delete)":', str(params["body"]))
            }
        elif service == "s3":
            self.actions |= {f"s3:{action}" for action in S3.get(operation, {operation})}
        else:
            self.actions.add(f"{service}:{operation}")


@contextmanager
def noted(*clients: Any) -> Iterator[Calls]:
    calls = Calls()
    for client in clients:
        client.meta.events.register("before-call", calls.note, unique_id="permissions")
    yield calls
    for client in clients:
        client.meta.events.unregister("before-call", unique_id="permissions")


def test_every_call_of_a_backup_and_a_restore_is_named(deployment: Deployment) -> None:
    house, aws = deployment.house, deployment.aws
    deployment.fill()
    place = Bucket(aws.s3, aws.bucket, "backups", "123456789012")
    with noted(aws.dynamodb, aws.s3) as calls:
        back_up(house.stores, TENANT, place, told)
        restore(house.stores, OTHER, place)
        restore(house.stores, OTHER, place, replace=True)
    assert calls.actions >= {"dynamodb:PutItem", "s3:PutObject"}
    assert calls.actions <= documented(BACKUPS)


def test_every_call_of_an_erasure_is_named(deployment: Deployment) -> None:
    house, aws = deployment.house, deployment.aws
    deployment.fill()
    with noted(aws.dynamodb, aws.s3, deployment.secretsmanager) as calls:
        erase_user(deployment.eraser, TENANT, USER)
        house.clock.advance(2_000)
        erase_tenant(deployment.eraser, TENANT)
        house.clock.advance(2_000)
        erase_tenant(deployment.eraser, TENANT)
    assert calls.actions >= {"dynamodb:Scan", "s3:DeleteObjectVersion", "secretsmanager:DeleteSecret"}
    assert calls.actions <= documented(BACKUPS, ERASURES)


def test_every_call_of_a_recovery_is_named(aws: Aws) -> None:
    restored = RestoredDeployment(aws, *DELETING, *TURNS)
    waiting(restored)
    gone = ended(restored.house).session_id
    restored.remember()
    restored.delete(gone)
    with noted(aws.dynamodb, aws.s3) as calls:
        restored.go_back()
    assert "dynamodb:BatchGetItem" in calls.actions
    assert calls.actions <= documented(BACKUPS, ERASURES, RECOVERY)
    # of Lambda and Step Functions, which moto does not play here
    assert documented(RECOVERY) >= {
        "lambda:GetFunctionConcurrency",
        "lambda:PutFunctionConcurrency",
        "lambda:DeleteFunctionConcurrency",
        "states:ListExecutions",
        "states:StopExecution",
    }
