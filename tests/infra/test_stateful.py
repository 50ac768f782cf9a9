import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from acta.engine.models.providers import NO_KEY_YET, WITH_KEY
from acta.engine.store import table_layout as items
from acta.infra.names import LIVE_INDEX, OPEN_INDEX
from tests.infra.conftest import HASH, Synthesised

HARMLESS = {"Status", "Id", "AbortIncompleteMultipartUpload", "NoncurrentVersionExpiration"}
"""Parts of a lifecycle rule that leave every current object alone (docs/design/log.md 19)."""


def buckets(each: Synthesised) -> dict[str, Mapping[str, Any]]:
    """Logical id, without its hash -> properties."""
    found = {
        name: made["Properties"]
        for template in (each.stateful, each.sessions)
        for name, made in template.resources("AWS::S3::Bucket").items()
    }
    return {HASH.sub("", name): properties for name, properties in found.items()}


def is_versioned(bucket: Mapping[str, Any]) -> bool:
    return bool(bucket.get("VersioningConfiguration", {}).get("Status") == "Enabled")


def test_the_stack_of_sessions_has_their_texts_and_the_audit_trail(each: Synthesised) -> None:
    kinds = {made["Type"] for made in each.sessions.body["Resources"].values()}
    secret = {"AWS::SecretsManager::Secret", "AWS::SecretsManager::ResourcePolicy"}
    assert kinds <= {"AWS::S3::Bucket", "AWS::S3::BucketPolicy", "AWS::DynamoDB::Table", *secret}
    assert set(buckets(each)) == {"Files", "Texts"}


def test_texts_of_sessions_have_no_versions_and_files_do_where_the_environment_says_so(
    each: Synthesised,
) -> None:
    assert {name for name, bucket in buckets(each).items() if is_versioned(bucket)} == (
        {"Files"} if each.environment.versioned_files else set()
    )


def test_the_table_has_the_keys_the_log_is_written_under(each: Synthesised) -> None:
    (table,) = each.stateful.properties("AWS::DynamoDB::Table")
    assert table["KeySchema"] == [
        {"AttributeName": "pk", "KeyType": "HASH"},
        {"AttributeName": "sk", "KeyType": "RANGE"},
    ]
    assert {attribute["AttributeType"] for attribute in table["AttributeDefinitions"]} == {"S"}
    assert table["BillingMode"] == "PAY_PER_REQUEST"
    assert table["TimeToLiveSpecification"] == {"AttributeName": "ttl", "Enabled": True}


def test_in_aws_the_table_is_encrypted_with_a_key_whose_use_is_logged(each: Synthesised) -> None:
    """The account's own key for DynamoDB. Without the property AWS takes a key that the account cannot see."""
    (table,) = each.stateful.properties("AWS::DynamoDB::Table")
    assert table["SSESpecification"] == {"SSEEnabled": not each.environment.is_local}


def test_recovery_finds_live_sessions_by_time_and_copies_nothing_of_them(each: Synthesised) -> None:
    (table,) = each.stateful.properties("AWS::DynamoDB::Table")
    live, open_ = table["GlobalSecondaryIndexes"]
    assert live["IndexName"] == LIVE_INDEX == items.LIVE_INDEX
    assert [key["AttributeName"] for key in live["KeySchema"]] == ["live", "live_at"]
    assert open_["IndexName"] == OPEN_INDEX == items.OPEN_INDEX
    assert [key["AttributeName"] for key in open_["KeySchema"]] == ["op", "sk"]
    assert [each["Projection"] for each in (live, open_)] == [{"ProjectionType": "KEYS_ONLY"}] * 2


def test_nothing_stored_is_public(each: Synthesised) -> None:
    for bucket in buckets(each).values():
        assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
        assert bucket["BucketEncryption"]
        assert bucket["OwnershipControls"]["Rules"] == [{"ObjectOwnership": "BucketOwnerEnforced"}]
    policies = [
        policy
        for template in (each.stateful, each.sessions)
        for policy in template.properties("AWS::S3::BucketPolicy")
    ]
    for policy in policies:
        assert {statement["Effect"] for statement in policy["PolicyDocument"]["Statement"]} == {"Deny"}


def test_in_aws_the_buckets_refuse_plain_http(each: Synthesised) -> None:
    for template in (each.stateful, each.sessions):
        refused = "aws:SecureTransport" in json.dumps(template.body)
        assert refused == (not each.environment.is_local)


def test_in_aws_no_other_account_reaches_buckets_and_secrets(each: Synthesised) -> None:
    """Whatever a policy grants some day. Services of AWS that act for themselves belong to no account."""
    templates = (each.stateful, each.sessions)
    kinds = ("AWS::S3::Bucket", "AWS::SecretsManager::Secret")
    guarded = {kind: sum(len(template.resources(kind)) for template in templates) for kind in kinds}
    policies = [
        (actions, policy.get("PolicyDocument") or policy["ResourcePolicy"])
        for template in templates
        for kind, actions in (
            ("AWS::S3::BucketPolicy", "s3:*"),
            ("AWS::SecretsManager::ResourcePolicy", "secretsmanager:*"),
        )
        for policy in template.properties(kind)
    ]
    assert len(policies) == (0 if each.environment.is_local else sum(guarded.values()))
    for actions, document in policies:
        (only,) = (one for one in document["Statement"] if one.get("Sid") == "OwnAccountOnly")
        assert (only["Effect"], only["Action"], only["Principal"]) == ("Deny", actions, {"AWS": "*"})
        assert only["Condition"] == {
            "StringNotEquals": {"aws:PrincipalAccount": {"Ref": "AWS::AccountId"}},
            "BoolIfExists": {"aws:PrincipalIsAWSService": "false"},
        }


@pytest.mark.parametrize(("name", "mfa"), [("dev", "OPTIONAL"), ("staging", "ON"), ("prod", "ON")])
def test_production_requires_a_second_factor_which_is_no_text_message(
    name: str, mfa: str, synthesise: Callable[[str], Synthesised]
) -> None:
    (pool,) = synthesise(name).stateful.properties("AWS::Cognito::UserPool")
    assert (pool["MfaConfiguration"], pool["EnabledMfas"]) == (mfa, ["SOFTWARE_TOKEN_MFA"])


def test_unfinished_uploads_and_replaced_versions_leave_the_bucket(each: Synthesised) -> None:
    for bucket in buckets(each).values():
        (rule,) = bucket["LifecycleConfiguration"]["Rules"]
        assert rule["AbortIncompleteMultipartUpload"] == {"DaysAfterInitiation": 1}
        assert ("NoncurrentVersionExpiration" in rule) == is_versioned(bucket)


def test_data_outlives_its_stack_where_the_environment_says_so(each: Synthesised) -> None:
    for kind in (
        "AWS::DynamoDB::Table",
        "AWS::S3::Bucket",
        "AWS::SecretsManager::Secret",
        "AWS::Cognito::UserPool",
    ):
        for template in (each.stateful, each.sessions):
            for resource in template.resources(kind).values():
                assert (resource["DeletionPolicy"] != "Delete") == each.environment.retain


def test_production_can_be_set_back_in_time_and_is_not_deleted_by_accident(prod: Synthesised) -> None:
    (table,) = prod.stateful.properties("AWS::DynamoDB::Table")
    assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert table["DeletionProtectionEnabled"] is True
    (pool,) = prod.stateful.properties("AWS::Cognito::UserPool")
    assert pool["DeletionProtection"] == "ACTIVE"


def test_no_template_holds_a_key(each: Synthesised) -> None:
    secrets = each.stateful.properties("AWS::SecretsManager::Secret")
    names = [] if each.environment.is_local else [provider.name for provider in WITH_KEY]
    made = [] if each.environment.is_local else ["wake"]
    assert [secret["Name"] for secret in secrets] == [
        f"acta/{each.environment.name}/{name}" for name in (*names, *made)
    ]
    assert all(secret["SecretString"] == NO_KEY_YET for secret in secrets[: len(names)])
    for secret in secrets[len(names) :]:
        assert ("SecretString" in secret, secret["GenerateSecretString"]["PasswordLength"]) == (False, 64)


def test_no_client_may_write_the_tenant_of_its_user(prod: Synthesised) -> None:
    (client,) = prod.stateful.properties("AWS::Cognito::UserPoolClient")
    assert "custom:tenant" in client["ReadAttributes"]
    assert client["WriteAttributes"]
    assert "custom:tenant" not in client["WriteAttributes"]
    (pool,) = prod.stateful.properties("AWS::Cognito::UserPool")
    assert pool["AdminCreateUserConfig"]["AllowAdminCreateUserOnly"] is True
    (tenant,) = [attribute for attribute in pool["Schema"] if attribute["Name"] == "tenant"]
    assert tenant["Mutable"] is False


def test_no_lifecycle_rule_touches_a_current_object(each: Synthesised) -> None:
    for bucket in buckets(each).values():
        for rule in bucket["LifecycleConfiguration"]["Rules"]:
            assert set(rule) <= HARMLESS


def test_a_version_that_was_replaced_is_kept_for_a_month_where_versions_are_kept(each: Synthesised) -> None:
    bucket = buckets(each)["Files"]
    kept = [
        rule["NoncurrentVersionExpiration"]["NoncurrentDays"]
        for rule in bucket["LifecycleConfiguration"]["Rules"]
        if "NoncurrentVersionExpiration" in rule
    ]
    assert kept == ([30] if each.environment.versioned_files else [])
