"""AG3, identity and privilege abuse, one layer down: code that has taken a function over holds the credentials of its
role. Whatever it asks AWS for with them, it gets what that function needs and nothing else.

Each act here is carried out for the operator, so that a refusal is the role's. Those that a function needs are carried
out for it, so that roles which may do nothing at all do not pass.
"""

import io
import json
import uuid
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from botocore.exceptions import ClientError

from acta.engine.aws.clients import Service
from acta.engine.aws.tenant_credentials import Narrowed, TenantCredentials, data_of, tool_secrets_of
from acta.engine.bound_tenant import bound_to
from acta.engine.errors import AwsDenied
from acta.engine.store.keys import notification_secrets_prefix, tool_secrets_prefix
from acta.local_aws.credentials import Credentials
from acta.local_aws.emulator_process import ACCOUNT, REGION
from tests.conftest import Deployed
from tests.e2e.support.behind import FUNCTIONS, Behind
from tests.e2e.support.rights import role_of

DENIED = {"AccessDenied", "AccessDeniedException"}
PASSED = {
    "ExecutionDoesNotExist",
    "InvalidName",
    "NoSuchEntity",
    "ResourceNotFoundException",
    "ConditionalCheckFailedException",
}
"""What is asked for is not there, or not asked for in earnest. Policies come before that."""
PROVIDERS_KEY = "acta/local/ceiling"
TELLS = """
import os

def handler(event, context):
    return {name: os.environ[name] for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")}
"""


@dataclass(frozen=True)
class Prey:
    """What there is to be had: `mine` and `other` are tenants with an item and a file each."""

    behind: Behind
    mine: str
    other: str

    @property
    def table(self) -> str:
        return self.behind.settings["ACTA_TABLE"]

    @property
    def audit(self) -> str:
        return self.behind.settings["ACTA_AUDIT_TABLE"]

    @property
    def machine(self) -> str:
        return self.behind.settings["ACTA_STATE_MACHINE_ARN"]

    def tenant_role(self, function: str) -> str:
        """Its ARN; empty where the function has one role."""
        found = self.behind.client("lambda").get_function_configuration(FunctionName=f"acta-local-{function}")
        return str(found["Environment"]["Variables"].get("ACTA_TENANT_ROLE", ""))


def key(tenant: str) -> dict[str, Any]:
    return {"pk": {"S": f"T#{tenant}"}, "sk": {"S": "CEILING"}}


def file(tenant: str) -> str:
    return f"files/{tenant}/ceiling.txt"


def text(tenant: str) -> str:
    return f"sessions/{tenant}/ses_1/ceiling"


def tool_secret(tenant: str) -> str:
    return f"{tool_secrets_prefix('local', tenant)}ceiling"


def signing_secret(tenant: str) -> str:
    return f"{notification_secrets_prefix('local', tenant)}ceiling"


@pytest.fixture(scope="module")
def prey(behind: Behind) -> Iterator[Prey]:
    made = Prey(behind, f"mine-{uuid.uuid4().hex}", f"other-{uuid.uuid4().hex}")
    items, objects, keys = behind.client("dynamodb"), behind.client("s3"), behind.client("secretsmanager")
    files, texts = behind.buckets
    for tenant in (made.mine, made.other):
        for table in (made.table, made.audit):
            items.put_item(TableName=table, Item=key(tenant))
        objects.put_object(Bucket=files, Key=file(tenant), Body=b"")
        for bucket in behind.buckets:
            objects.put_object(Bucket=bucket, Key=text(tenant), Body=b"")
    secrets = [PROVIDERS_KEY, tool_secret(made.mine), tool_secret(made.other), signing_secret(made.other)]
    for name in secrets:
        keys.create_secret(Name=name, SecretString="x")
    yield made
    for name in secrets:
        keys.delete_secret(SecretId=name, ForceDeleteWithoutRecovery=True)
    for tenant in (made.mine, made.other):
        for table in (made.table, made.audit):
            items.delete_item(TableName=table, Key=key(tenant))
        for name in (file(tenant), text(tenant)):
            objects.delete_object(Bucket=files, Key=name)
        objects.delete_object(Bucket=texts, Key=text(tenant))


Client = Callable[[str], Any]
Act = Callable[[Client, Prey], object]


def on_items(call: str, tenant: str, table: str = "table", **arguments: Any) -> Act:
    """`tenant`: the attribute of Prey that has its name."""

    def act(client: Client, prey: Prey) -> object:
        given = (
            {"Item": key(getattr(prey, tenant))}
            if call == "put_item"
            else {"Key": key(getattr(prey, tenant))}
        )
        return getattr(client("dynamodb"), call)(TableName=getattr(prey, table), **given, **arguments)

    return act


def query(tenant: str, table: str = "table") -> Act:
    def act(client: Client, prey: Prey) -> object:
        return client("dynamodb").query(
            TableName=getattr(prey, table),
            KeyConditionExpression="pk = :pk",
            ExpressionAttributeValues={":pk": {"S": f"T#{getattr(prey, tenant)}"}},
        )

    return act


def open_of(tenant: str) -> Act:
    """Looks for what is open of the tenant, by the index that has it."""

    def act(client: Client, prey: Prey) -> object:
        return client("dynamodb").query(
            TableName=prey.table,
            IndexName="open",
            KeyConditionExpression="op = :op",
            ExpressionAttributeValues={":op": {"S": f"T#{getattr(prey, tenant)}#=I"}},
        )

    return act


def on_object(call: str, name: Callable[[str], str], tenant: str, bucket: int = 0, **arguments: Any) -> Act:
    """`bucket`: 0 of the files, 1 of sessions' texts."""

    def act(client: Client, prey: Prey) -> object:
        where = {"Bucket": prey.behind.buckets[bucket], "Key": name(getattr(prey, tenant))}
        return getattr(client("s3"), call)(**where, **arguments)

    return act


def delete_unless_there(tenant: str, table: str = "table") -> Act:
    return on_items("delete_item", tenant, table, ConditionExpression="attribute_not_exists(pk)")


def change(table: str) -> Act:
    return on_items("update_item", "other", table, UpdateExpression="SET changed = pk")


def limit_of(tenant: str, kind: str) -> Act:
    """Changes a tenant's counts, `=N`, or the shares of its rate, `=Q`, at an item that is not there."""

    def act(client: Client, prey: Prey) -> object:
        return client("dynamodb").update_item(
            TableName=prey.table,
            Key={"pk": {"S": f"T#{getattr(prey, tenant)}#{kind}"}, "sk": {"S": "CEILING"}},
            UpdateExpression="SET changed = pk",
            ConditionExpression="attribute_exists(pk)",
        )

    return act


def on_secret(call: str, tenant: str, **arguments: Any) -> Act:
    def act(client: Client, prey: Prey) -> object:
        return getattr(client("secretsmanager"), call)(
            SecretId=tool_secret(getattr(prey, tenant)), **arguments
        )

    return act


WITHOUT_A_TENANT: Mapping[str, Act] = {
    "read a tenant's item": on_items("get_item", "other"),
    "read items of tenants together": lambda client, prey: client("dynamodb").batch_get_item(
        RequestItems={prey.table: {"Keys": [key(prey.mine), key(prey.other)]}}
    ),
    "write a tenant's item": on_items("put_item", "other"),
    "change a tenant's item": change("table"),
    "delete a tenant's item": delete_unless_there("other"),
    "read through the table": lambda client, prey: client("dynamodb").scan(TableName=prey.table, Limit=1),
    "find the live sessions": lambda client, prey: client("dynamodb").query(
        TableName=prey.table,
        IndexName="live",
        KeyConditionExpression="live = :l",
        ExpressionAttributeValues={":l": {"S": "0"}},
    ),
    "find what is open of a tenant": open_of("other"),
    "read a file": on_object("get_object", file, "other"),
    "write a file": on_object("put_object", file, "other", Body=b""),
    "delete a file": on_object("delete_object", lambda tenant: f"files/{tenant}/none", "other"),
    "read a session's text": on_object("get_object", text, "other", bucket=1),
    "list the files": lambda client, prey: client("s3").list_objects_v2(Bucket=prey.behind.buckets[0]),
    "say who may see the files": lambda client, prey: client("s3").put_public_access_block(
        Bucket=prey.behind.buckets[0],
        PublicAccessBlockConfiguration={
            "BlockPublicAcls": True, "IgnorePublicAcls": True, "BlockPublicPolicy": True, "RestrictPublicBuckets": True,
        },
    ),
    "record what was done": on_items("put_item", "other", "audit"),
    "read the audit trail": query("other", "audit"),
    "change a record of the audit trail": change("audit"),
    "delete a record of the audit trail": delete_unless_there("other", "audit"),
    "read a model provider's key": lambda client, prey: client("secretsmanager").get_secret_value(
        SecretId=PROVIDERS_KEY
    ),
    "read a tool's secret": on_secret("get_secret_value", "other"),
    "read what notifications are signed with": lambda client, prey: client("secretsmanager").get_secret_value(
        SecretId=signing_secret(prey.other)
    ),
    "start an execution": lambda client, prey: client("stepfunctions").start_execution(
        stateMachineArn=prey.machine, name="no name"
    ),
    "stop an execution": lambda client, prey: client("stepfunctions").stop_execution(
        executionArn=f"{prey.machine.replace(':stateMachine:', ':execution:')}:none"
    ),
    "list the executions": lambda client, prey: client("stepfunctions").list_executions(
        stateMachineArn=prey.machine
    ),
    "run another function": lambda client, prey: client("lambda").invoke(
        FunctionName="acta-local-fallback", Payload=b"{}"
    ),
    "give a function another setting": lambda client, prey: client("lambda").update_function_configuration(
        FunctionName="acta-local-fallback", Description=""
    ),
    "read a function's settings": lambda client, prey: client("lambda").get_function_configuration(
        FunctionName="acta-local-fallback"
    ),
    "widen a role": lambda client, prey: client("iam").attach_role_policy(
        RoleName=role_of(prey.behind.client, "fallback"), PolicyArn=f"arn:aws:iam::{ACCOUNT}:policy/none"
    ),
    "make a key that lasts": lambda client, prey: client("iam").create_access_key(UserName="none"),
    "assume the deployer's role": lambda client, prey: client("sts").assume_role(
        RoleArn=f"arn:aws:iam::{ACCOUNT}:role/cdk-hnb659fds-deploy-role-{ACCOUNT}-{REGION}", RoleSessionName="taken"
    ),
    "take the stack down": lambda client, prey: client("cloudformation").delete_stack(StackName="none"),
}  # fmt: skip

NEEDS: Mapping[str, set[str]] = {
    "start": {"start an execution", "stop an execution"},
    "status": set(),
    "step": {"start an execution", "stop an execution"},
    "tool": {"start an execution"},
    "intervene": {"start an execution", "stop an execution"},
    "admin": set(),
    "notify": {"read a tenant's item", "read what notifications are signed with"},
    "usage": {"read a tenant's item", "read items of tenants together"},
    "traces": {"read items of tenants together"},
    "recover": {
        "read a tenant's item", "write a tenant's item", "change a tenant's item", "delete a tenant's item",
        "read through the table", "find the live sessions", "read a session's text", "start an execution",
        "stop an execution", "list the executions", "read a file", "write a file",
    },
    "mcp": {"start an execution", "stop an execution"},
    "wake": {"start an execution", "stop an execution"},
    "console": set(),
    "fallback": set(),
}  # fmt: skip
"""Of the above, what a function does for the deployment or before it knows for which tenant."""

AS_A_TENANT: Mapping[str, Act] = {
    "read another tenant's item": on_items("get_item", "other"),
    "query another tenant's items": query("other"),
    "find what is open of another tenant": open_of("other"),
    "write another tenant's item": on_items("put_item", "other"),
    "change another tenant's item": change("table"),
    "change another tenant's counts": limit_of("other", "=N"),
    "take another tenant's rate": limit_of("other", "=Q"),
    "read another tenant's file": on_object("get_object", file, "other"),
    "write another tenant's file": on_object("put_object", file, "other", Body=b""),
    "read another tenant's text": on_object("get_object", text, "other", bucket=1),
    "read another tenant's text of old": on_object("get_object", text, "other"),
    "list another tenant's files": lambda client, prey: client("s3").list_objects_v2(
        Bucket=prey.behind.buckets[0], Prefix=f"files/{prey.other}/"
    ),
    "read the deployment's items": lambda client, prey: client("dynamodb").get_item(
        TableName=prey.table, Key={"pk": {"S": "D"}, "sk": {"S": "CEILING"}}
    ),
    "record what another tenant did": on_items("put_item", "other", "audit"),
    "read another tenant's records": query("other", "audit"),
    "read a secret of its tools": on_secret("get_secret_value", "mine"),
    **{
        name: WITHOUT_A_TENANT[name]
        for name in (
            "read through the table", "find the live sessions", "list the files", "change a record of the audit trail",
            "read a model provider's key", "read what notifications are signed with", "start an execution",
            "run another function", "widen a role",
            "assume the deployer's role",
        )
    },
}  # fmt: skip
"""None of them is ever needed with the credentials for the data of `mine`."""

OWN: Mapping[str, Act] = {
    "read an item": on_items("get_item", "mine"),
    "find what is open": open_of("mine"),
    "read several items": lambda client, prey: client("dynamodb").batch_get_item(
        RequestItems={prey.table: {"Keys": [key(prey.mine)]}}
    ),
    "write an item": on_items("put_item", "mine"),
    "delete an item": delete_unless_there("mine"),
    "read a file": on_object("get_object", file, "mine"),
    "write a file": on_object("put_object", file, "mine", Body=b""),
    "delete a file": on_object("delete_object", lambda tenant: f"files/{tenant}/none", "mine"),
    "read a text": on_object("get_object", text, "mine", bucket=1),
    "write a text": on_object("put_object", text, "mine", bucket=1, Body=b""),
    "record what was done": on_items("put_item", "mine", "audit"),
    "read records": query("mine", "audit"),
    "change the counts": limit_of("mine", "=N"),
    "take of the rate": limit_of("mine", "=Q"),
    "change an item": on_items("update_item", "mine", UpdateExpression="SET changed = pk"),
}
OPEN = {"find what is open", "read several items"}
"""Listings by key."""
LIMITS = {"change the counts", "take of the rate", "change an item"}
"""Whoever makes commits may put and change each item of its tenant. The others may change the rate's alone."""
MAY_WITH_OWN: Mapping[str, set[str]] = {
    "start": {"read an item", "write an item", "read a text", "write a text", "record what was done"}
    | LIMITS,
    "status": {"read an item", *OPEN, "read a text", "take of the rate", "record what was done"},
    "step": {
        "read an item",
        "write an item",
        "delete an item",
        "read a file",
        "write a file",
        "read a text",
        "write a text",
        "record what was done",
    }
    | LIMITS,
    "tool": {*OWN} - {"record what was done", "read records", *OPEN},
    "intervene": {"read an item", "write an item", "read a text", "write a text", "record what was done"}
    | LIMITS,
    "mcp": {"read an item", "write an item", "read a text", "write a text", "record what was done"}
    | LIMITS
    | OPEN,
    "wake": {"read an item", "write an item", "read a file", "write a file", "read a text", "write a text"}
    | LIMITS,
    "admin": {
        "read an item",
        "write an item",
        "delete an item",
        "read a file",
        "write a file",
        "delete a file",
        "record what was done",
        "read records",
        "take of the rate",
    },
}


SECRETS: Mapping[str, Act] = {
    "read a secret": on_secret("get_secret_value", "mine"),
    "set a secret": on_secret("put_secret_value", "mine", SecretString="x"),
    "read another tenant's secret": on_secret("get_secret_value", "other"),
    "set another tenant's secret": on_secret("put_secret_value", "other", SecretString="x"),
    "read a model provider's key": WITHOUT_A_TENANT["read a model provider's key"],
    "read an item": OWN["read an item"],
    "read a file": OWN["read a file"],
}
MAY_WITH_SECRETS: Mapping[str, set[str]] = {
    "tool": {"read a secret"},
    "wake": {"read a secret"},
    "admin": {"set a secret"},
}
"""With the credentials for the secrets of the tools of `mine`."""


class Session:
    """Clients of the local AWS with some credentials."""

    def __init__(self, deployed: Deployed, credentials: Credentials) -> None:
        self.credentials = credentials
        self._behind = Behind(deployed.aws_endpoint_url, credentials)

    def client(self, service: str) -> Any:
        return self._behind.client(service)


def does(act: Act, who: Client, prey: Prey) -> bool:
    """Whether the policies let it happen."""
    try:
        act(who, prey)
    except ClientError as error:
        code = error.response["Error"]["Code"]
        if code in DENIED:
            return False
        if code not in PASSED:
            raise
    return True


def allowed(acts: Mapping[str, Act], who: Client, prey: Prey) -> set[str]:
    return {name for name, act in acts.items() if does(act, who, prey)}


@pytest.fixture(params=FUNCTIONS, scope="module")
def taken(request: pytest.FixtureRequest, prey: Prey, deployed: Deployed) -> Iterator[tuple[str, Session]]:
    """A function of Acta, and what a process with its role is given to sign with."""
    function = str(request.param)
    lambdas, name = prey.behind.client("lambda"), f"ceiling-{function}"
    own = lambdas.get_function_configuration(FunctionName=f"acta-local-{function}")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("tells.py", TELLS)
    lambdas.create_function(
        FunctionName=name, Runtime=own["Runtime"], Handler="tells.handler", Role=own["Role"], Timeout=30,
        Code={"ZipFile": packed.getvalue()},
    )  # fmt: skip
    given = json.loads(lambdas.invoke(FunctionName=name, Payload=b"{}")["Payload"].read())
    yield function, Session(deployed, Credentials(*given.values()))
    lambdas.delete_function(FunctionName=name)


def test_everything_here_works_for_the_operator(prey: Prey) -> None:
    for acts in (WITHOUT_A_TENANT, AS_A_TENANT, OWN, SECRETS):
        assert allowed(acts, prey.behind.client, prey) == {*acts}


def test_with_its_role_alone_a_function_does_what_it_needs_and_nothing_else(
    taken: tuple[str, Session], prey: Prey
) -> None:
    function, session = taken
    who = session.client("sts").get_caller_identity()["Arn"]
    assert who.startswith(f"arn:aws:sts::{ACCOUNT}:assumed-role/{role_of(prey.behind.client, function)}/")
    assert allowed(WITHOUT_A_TENANT, session.client, prey) == NEEDS[function]
    assert len(WITHOUT_A_TENANT) - len(NEEDS[function]) >= 10


def test_bound_to_a_tenant_a_function_reaches_that_tenants_data_and_nothing_else(
    taken: tuple[str, Session], prey: Prey, deployed: Deployed
) -> None:
    function, session = taken
    role = prey.tenant_role(function)
    assert bool(role) is (function in MAY_WITH_OWN)
    if not role:
        return
    bound = Session(deployed, bound_keys(session, role, prey, data_of(*prey.behind.buckets)))
    assert allowed(AS_A_TENANT, bound.client, prey) == set()
    assert allowed(OWN, bound.client, prey) == MAY_WITH_OWN[function]
    assert len(AS_A_TENANT) >= 10
    bound = Session(deployed, bound_keys(session, role, prey, tool_secrets_of("local")))
    assert allowed(SECRETS, bound.client, prey) == MAY_WITH_SECRETS.get(function, set())


def test_a_function_does_not_assume_the_tenant_role_of_another(
    taken: tuple[str, Session], prey: Prey
) -> None:
    function, session = taken
    assumed = set()
    for other in MAY_WITH_OWN:
        try:
            bound_keys(session, prey.tenant_role(other), prey, tool_secrets_of("local"))
        except AwsDenied:
            continue
        assumed.add(other)
    assert assumed == {function} & {*MAY_WITH_OWN}


def bound_keys(session: Session, role: str, prey: Prey, policy: Narrowed) -> Credentials:
    """Those that the function signs with while it works for `mine`, by its own code."""
    source = TenantCredentials(role, policy, None, Service("sts", session.client("sts")))
    with bound_to(prey.mine):
        keys = source.get_frozen_credentials()
    return Credentials(keys.access_key, keys.secret_key, keys.token)
