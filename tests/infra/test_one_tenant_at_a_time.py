"""The synthesised roles and the session policy together, as IAM evaluates them: which tenant's data they reach (F2)."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from acta.engine.aws.tenant_credentials import secrets_policy, session_policy
from acta.engine.store.keys import notification_secrets_prefix, tool_secrets_prefix
from tests.doubles.iam.policies import Ask, Document, is_allowed
from tests.doubles.iam.requests import BUCKETS, LEADING_KEYS, TABLES
from tests.infra.conftest import Synthesised, listed, text_of
from tests.infra.test_grants import BY_TENANT

ACME, OTHER = "acme", "other"
ARNS = {
    "Table.Arn": f"{TABLES}/acta",
    "Audit.Arn": f"{TABLES}/audit",
    "Files.Arn": f"{BUCKETS}acta-files",
    "Texts.Arn": f"{BUCKETS}acta-texts",
}


MAY_WITH_SECRETS = ("GetSecretValue", "CreateSecret", "PutSecretValue", "DeleteSecret")


def narrowed_to(tenant: str) -> Document:
    policy: Document = json.loads(session_policy(tenant, "aws", "acta-files", "acta-texts"))
    return policy


def secrets_of(tenant: str, environment: str) -> Document:
    policy: Document = json.loads(secrets_policy(tenant, "aws", environment))
    return policy


def policies(each: Synthesised, role: str) -> tuple[Document, ...]:
    """Of the role whose logical id begins like this, with ARNs."""
    return ({"Statement": [with_arns(statement) for statement in each.stateless.statements(role)]},)


def with_arns(statement: Mapping[str, Any]) -> Mapping[str, Any]:
    conditions = {
        operator: {key: [text_of(value) for value in listed(values)] for key, values in keys.items()}
        for operator, keys in statement.get("Condition", {}).items()
    }
    resources = [arn(resource) for resource in listed(statement["Resource"])]
    return {**statement, "Resource": resources, "Condition": conditions}


def arn(resource: Any) -> str:
    text = text_of(resource)
    if text.startswith("arn:"):
        return text
    name, slash, rest = text.partition("/")
    return ARNS.get(name, name) + slash + rest


def is_of_secrets(statement: Mapping[str, Any]) -> bool:
    return all(action.startswith("secretsmanager:") for action in listed(statement["Action"]))


def secret_asks(each: Synthesised, function: str, tenant: str) -> Iterator[Ask]:
    """Everything that the function's second role may do, done to a secret of this tenant's tools or notifications."""
    environment = each.environment.name
    prefixes = {
        "tools": tool_secrets_prefix(environment, tenant),
        "notify": notification_secrets_prefix(environment, tenant),
    }
    for statement in each.stateless.statements(f"{function.capitalize()}TenantRole"):
        for action in listed(statement["Action"]) if is_of_secrets(statement) else ():
            for resource in map(arn, listed(statement["Resource"])):
                before, _, name = resource.partition(":secret:")
                yield Ask(action, f"{before}:secret:{prefixes[name.split('/')[2]]}stripe-AbCdEf")


def asks(each: Synthesised, function: str, tenant: str) -> Iterator[Ask]:
    """Everything that the function's second role may do, done to this tenant's data."""
    statements = each.stateless.statements(f"{function.capitalize()}TenantRole")
    for statement in (one for one in statements if one["Effect"] == "Allow" and not is_of_secrets(one)):
        for action in listed(statement["Action"]):
            for resource in map(arn, listed(statement["Resource"])):
                if action.startswith("dynamodb:"):
                    named = statement["Condition"].get("ForAllValues:StringLike", {}).get(LEADING_KEYS)
                    every = [f"T#{tenant}", f"T#{tenant}#S#ses_1"]
                    for key in every if named is None else [key.replace("*", tenant) for key in named]:
                        yield Ask(action, resource, {LEADING_KEYS: [key]})
                elif "List" in action:
                    prefix = statement["Condition"]["StringLike"]["s3:prefix"].replace("*", f"{tenant}/ses_1")
                    yield Ask(action, resource, {"s3:prefix": [prefix]})
                else:
                    yield Ask(action, resource.replace("*", f"{tenant}/ses_1/text"))


@pytest.mark.parametrize("function", BY_TENANT)
def test_what_a_function_may_do_it_may_do_to_the_tenant_it_works_for_and_to_no_other(
    function: str, each: Synthesised
) -> None:
    role = policies(each, f"{function.capitalize()}TenantRole")
    own, others = list(asks(each, function, ACME)), list(asks(each, function, OTHER))
    assert own
    assert [ask for ask in own if not is_allowed(ask, role, narrowed_to(ACME))] == []
    assert [ask for ask in others if is_allowed(ask, role, narrowed_to(ACME))] == []


@pytest.mark.parametrize("function", ["status", "admin"])
def test_who_makes_no_commits_changes_the_shares_of_its_tenants_rate_and_no_other_item(
    function: str, each: Synthesised
) -> None:
    role = policies(each, f"{function.capitalize()}TenantRole")
    for keys, expected in (
        ([f"T#{ACME}#=Q"], True),
        ([f"T#{OTHER}#=Q"], False),
        ([f"T#{ACME}"], False),
        ([f"T#{ACME}#=N"], False),
        ([f"T#{ACME}#S#ses_1"], False),
        ([f"T#{ACME}#=Q", f"T#{ACME}"], False),
    ):
        ask = Ask("dynamodb:UpdateItem", ARNS["Table.Arn"], {LEADING_KEYS: keys})
        assert is_allowed(ask, role, narrowed_to(ACME)) == expected, keys


@pytest.mark.parametrize("function", BY_TENANT)
def test_without_a_tenant_it_reaches_the_data_of_none(function: str, each: Synthesised) -> None:
    role = policies(each, f"{function.capitalize()}BaseRole")
    assert [ask for ask in asks(each, function, ACME) if is_allowed(ask, role)] == []


@pytest.mark.parametrize("function", ["start", "status", "step", "intervene", "admin", "mcp"])
def test_a_record_of_the_trail_is_put_for_the_bound_tenant_alone(function: str, each: Synthesised) -> None:
    tenant = policies(each, f"{function.capitalize()}TenantRole")
    base = policies(each, f"{function.capitalize()}BaseRole")
    for of, expected in ((ACME, True), (OTHER, False)):
        ask = Ask("dynamodb:PutItem", ARNS["Audit.Arn"], {LEADING_KEYS: [f"T#{of}"]})
        assert is_allowed(ask, tenant, narrowed_to(ACME)) == expected
        assert not is_allowed(ask, base)


@pytest.mark.parametrize("function", BY_TENANT)
def test_one_write_may_not_name_the_tenants_items_and_anothers(function: str, each: Synthesised) -> None:
    role = policies(each, f"{function.capitalize()}TenantRole")
    for keys in ([f"T#{ACME}", f"T#{OTHER}"], [f"T#{ACME}", "D"], ["D"], [f"T#{ACME}x"], ["T#"], [""]):
        for action in ("PutItem", "BatchWriteItem", "GetItem", "Query"):
            ask = Ask(f"dynamodb:{action}", ARNS["Table.Arn"], {LEADING_KEYS: keys})
            assert not is_allowed(ask, role, narrowed_to(ACME)), keys


@pytest.mark.parametrize("function", BY_TENANT)
@pytest.mark.parametrize("role", ["BaseRole", "TenantRole"])
def test_nothing_without_a_key_is_answered(function: str, role: str, each: Synthesised) -> None:
    """A scan, the index of all live sessions, a listing of a whole bucket or of all tenants."""
    granted = policies(each, f"{function.capitalize()}{role}")
    narrowed = narrowed_to(ACME) if role == "TenantRole" else None
    for ask in (
        Ask("dynamodb:Scan", ARNS["Table.Arn"]),
        Ask("dynamodb:GetItem", ARNS["Table.Arn"]),
        Ask("dynamodb:Query", f"{ARNS['Table.Arn']}/index/live", {LEADING_KEYS: ["active"]}),
        *(
            Ask(action, ARNS[bucket], context)
            for action in ("s3:ListBucket", "s3:ListBucketVersions")
            for bucket in ("Files.Arn", "Texts.Arn")
            for context in ({}, {"s3:prefix": [""]}, {"s3:prefix": ["files/"]}, {"s3:prefix": ["sessions/"]})
        ),
    ):
        assert not is_allowed(ask, granted, narrowed), ask


def test_a_tenants_folder_that_is_named_like_another_tenants_is_not_its_own(each: Synthesised) -> None:
    """`*` in an ARN stands for slashes, too."""
    role = policies(each, "ToolTenantRole")
    for key in (f"files/{OTHER}/files/{ACME}/a.md", f"sessions/{OTHER}/files/{ACME}/a", f"files/{ACME}"):
        for action in ("s3:GetObject", "s3:PutObject"):
            ask = Ask(action, f"{ARNS['Files.Arn']}/{key}")
            assert not is_allowed(ask, role, narrowed_to(ACME)), key


@pytest.mark.parametrize(("function", "may_write"), [("status", False), ("step", False), ("admin", True)])
def test_who_reads_the_deployments_own_items_reads_them_with_its_own_role(
    function: str, may_write: bool, each: Synthesised
) -> None:
    role = policies(each, f"{function.capitalize()}BaseRole")

    def may(action: str, *keys: str) -> bool:
        return is_allowed(Ask(f"dynamodb:{action}", ARNS["Table.Arn"], {LEADING_KEYS: keys}), role)

    assert may("GetItem", "D")
    assert may("PutItem", "D") == may_write
    assert not may("GetItem", "D", f"T#{ACME}")
    assert not may("GetItem", "D#")
    assert not may("DeleteItem", "D")


@pytest.mark.parametrize("function", BY_TENANT)
def test_secrets_of_tools_are_the_bound_tenants_alone(function: str, each: Synthesised) -> None:
    role, environment = policies(each, f"{function.capitalize()}TenantRole"), each.environment.name
    base = policies(each, f"{function.capitalize()}BaseRole")
    for tenant in (ACME, "a*", "ac?e", "Acme", "é" * 300):
        own = list(secret_asks(each, function, tenant))
        assert bool(own) == (function in ("admin", "tool", "wake"))
        narrowed = secrets_of(tenant, environment)
        assert [ask for ask in own if not is_allowed(ask, role, narrowed)] == []
        others = [ask for other in (OTHER, "acme2", "acm") for ask in secret_asks(each, function, other)]
        assert [ask for ask in others if is_allowed(ask, role, narrowed)] == []
        assert [ask for ask in own if is_allowed(ask, base)] == []


@pytest.mark.parametrize("function", ["admin", "tool", "wake"])
def test_credentials_for_secrets_reach_no_data_those_for_data_no_secret_and_neither_another_environment(
    function: str, each: Synthesised
) -> None:
    role, environment = policies(each, f"{function.capitalize()}TenantRole"), each.environment.name
    data, secrets = list(asks(each, function, ACME)), list(secret_asks(each, function, ACME))
    assert [ask for ask in data if is_allowed(ask, role, secrets_of(ACME, environment))] == []
    assert [ask for ask in secrets if is_allowed(ask, role, narrowed_to(ACME))] == []
    elsewhere = [
        ask._replace(resource=ask.resource.replace(f"acta/{environment}/", "acta/another/"))
        for ask in secrets
    ]
    assert [ask for ask in elsewhere if is_allowed(ask, role, secrets_of(ACME, "another"))] == []


def test_no_function_lists_secrets_or_says_who_may_have_them(each: Synthesised) -> None:
    for role in each.stateless.resources("AWS::IAM::Role"):
        for statement in each.stateless.statements(role):
            found = {one for one in listed(statement["Action"]) if one.startswith("secretsmanager:")}
            assert found <= {f"secretsmanager:{name}" for name in MAY_WITH_SECRETS}
