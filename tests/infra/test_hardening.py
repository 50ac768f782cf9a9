"""Each option does what docs/options.md says, alone and with the others, and cdk-nag has nothing to say about any."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from acta.engine.settings import PREFIX, Settings
from acta.infra.api.issuers import ExternalIssuer
from acta.infra.environments import PROD, STAGING, Environment, Topic, Webhook
from acta.infra.options import (
    BucketObjects,
    BusEvents,
    CustomerKey,
    MonthlyBudget,
    QueueMessages,
    SignInFirewall,
    SlackChannel,
    Watch,
    WrittenFiles,
)
from acta.infra.packaging.bundle import ROOT
from tests.doubles.iam.policies import Ask, is_allowed
from tests.infra.conftest import Synthesised, Template, listed, synthesised, text_of
from tests.infra.test_grants import BY_TENANT
from tests.infra.test_one_tenant_at_a_time import narrowed_to, policies
from tests.infra.test_options import BOUNDARY, EDGE, FRONT, HASH, KEY_ARN, NETWORK, ORIGIN

pytestmark = pytest.mark.thorough

OPERATORS_ACL = "arn:aws:wafv2:us-east-1:123456789012:global/webacl/ours/1-2-3"
EVERYTHING = replace(
    PROD,
    key=CustomerKey(),
    domain=ORIGIN,
    edge=EDGE,
    sign_in_firewall=SignInFirewall(requests_per_address=200),
    tool_network=replace(
        NETWORK, route_table_ids=("rtb-0123456789abcdef0",), egress=("203.0.113.0/24", "2001:db8::/32")
    ),
    permissions_boundary=BOUNDARY,
    snap_start=True,
    notifications=Topic(),
    event_sources={
        "orders": BusEvents({"source": ["shop"]}, bus="shop", id="detail.order_id", tenant="detail.tenant"),
        "jobs": QueueMessages("jobs", tenants=("acme",), key_arn=KEY_ARN),
        "scans": BucketObjects("our-scans", "in/{tenant}/"),
        "invoices": WrittenFiles("invoices/"),
    },
    watch=Watch(
        emails=("oncall@example.com",),
        webhooks=("https://events.example.com/sns",),
        slack=SlackChannel("T012ABCDE", "C012ABCDE"),
        budget=MonthlyBudget(1_000.0),
    ),
)
GIVEN = replace(
    PROD,
    key=CustomerKey(KEY_ARN),
    domain=ORIGIN,
    edge=replace(EDGE, web_acl_arn=OPERATORS_ACL),
    tool_network=NETWORK,
    log_callers=False,
    notifications=Webhook("https://hooks.example.com/acta"),
)
"""As much as possible belongs to the operator already."""
ALONE: Mapping[str, Environment] = {
    "key": replace(STAGING, key=CustomerKey()),
    "domain": replace(STAGING, domain=ORIGIN),
    "edge": replace(STAGING, domain=ORIGIN, edge=EDGE),
    "edge with another issuer": replace(
        STAGING, domain=ORIGIN, edge=EDGE, auth=ExternalIssuer("https://login.example.com/", "acta")
    ),
    "sign-in firewall": replace(STAGING, sign_in_firewall=SignInFirewall()),
    "network": replace(STAGING, tool_network=NETWORK),
    "snap start": replace(STAGING, snap_start=True),
    "boundary": replace(STAGING, permissions_boundary=BOUNDARY),
    "alarms and key": replace(
        PROD, key=CustomerKey(), notifications=Webhook("https://hooks.example.com/acta")
    ),
}

SECRETS_KEY = "ACTA_TOOL_SECRETS_KEY"
STORES: Mapping[str, Callable[[Any], Any]] = {
    "AWS::DynamoDB::Table": lambda p: p["SSESpecification"]["KMSMasterKeyId"],
    "AWS::S3::Bucket": lambda p: p["BucketEncryption"]["ServerSideEncryptionConfiguration"][0][
        "ServerSideEncryptionByDefault"
    ]["KMSMasterKeyID"],
    "AWS::SecretsManager::Secret": lambda p: p["KmsKeyId"],
    "AWS::Logs::LogGroup": lambda p: p["KmsKeyId"],
    "AWS::SQS::Queue": lambda p: p["KmsMasterKeyId"],
    "AWS::SNS::Topic": lambda p: p["KmsMasterKeyId"],
}


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Synthesised:
    with_tools = replace(EVERYTHING, tools_dir=str(ROOT / "examples" / "tools"))
    return synthesised(with_tools, tmp_path_factory.mktemp("everything"))


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Synthesised:
    return synthesised(GIVEN, tmp_path_factory.mktemp("given"))


def templates(made: Synthesised) -> tuple[Template, ...]:
    return (made.stateful, made.sessions, made.stateless)


def edge_of(made: Synthesised) -> Template:
    assert made.edge is not None
    return made.edge


def outputs(template: Template) -> Mapping[str, Any]:
    return {name: each["Value"] for name, each in template.body["Outputs"].items()}


def test_all_options_together_give_cdk_nag_nothing_to_say(everything: Synthesised) -> None:
    assert everything.findings == ()


def test_with_what_the_operator_has_already_cdk_nag_has_nothing_to_say_either(given: Synthesised) -> None:
    assert given.findings == ()


@pytest.mark.parametrize("name", ALONE)
def test_an_option_alone_gives_cdk_nag_nothing_to_say(name: str, tmp_path: Path) -> None:
    assert synthesised(ALONE[name], tmp_path).findings == ()


def test_everything_that_is_stored_is_encrypted_with_the_key(
    everything: Synthesised, given: Synthesised
) -> None:
    for made, wanted in ((everything, "Key.Arn"), (given, KEY_ARN)):
        seen = set()
        for template in templates(made):
            for kind, key_of in STORES.items():
                for properties in template.properties(kind):
                    seen.add(kind)
                    assert text_of(key_of(properties)) == wanted, (kind, properties)
        assert seen == set(STORES)


def test_secrets_that_are_made_later_get_the_key_from_the_function_that_makes_them(
    everything: Synthesised, given: Synthesised, prod: Synthesised
) -> None:
    for made, wanted in ((everything, "Key.Arn"), (given, KEY_ARN), (prod, None)):
        told = {
            name: text_of(key)
            for name, each in made.stateless.resources("AWS::Lambda::Function").items()
            for key in [each["Properties"].get("Environment", {}).get("Variables", {}).get(SECRETS_KEY)]
            if key is not None
        }
        assert list(told.values()) == ([] if wanted is None else [wanted])
        assert all(name.startswith("AdminFunction") for name in told)
    assert SECRETS_KEY.removeprefix(PREFIX).lower() in Settings.fields


def test_who_uses_what_is_stored_may_use_the_key_through_the_services_alone(everything: Synthesised) -> None:
    roles = [
        *(f"{function.capitalize()}TenantRole" for function in BY_TENANT),
        *("StatusBaseRole", "StepBaseRole", "AdminBaseRole", "RecoverRole", "NotifyRole"),
    ]
    by_role = {
        role: [
            statement
            for statement in everything.stateless.statements(role)
            if any(action.startswith("kms:") for action in listed(statement["Action"]))
        ]
        for role in (*roles, "ToolBaseRole", "FallbackRole")
    }
    assert by_role.pop("FallbackRole") == []
    for (only,) in by_role.values():
        assert "kms:*" not in only["Action"]
        assert text_of(only["Resource"]) == "Key.Arn"
        via = [text_of(each) for each in only["Condition"]["StringEquals"]["kms:ViaService"]]
        assert sorted(via) == [
            f"{name}.region.amazonaws.com" for name in ("dynamodb", "s3", "secretsmanager", "sns", "sqs")
        ]


def test_a_key_that_acta_makes_is_renewed_each_year_and_kept(
    everything: Synthesised, given: Synthesised
) -> None:
    (key,) = everything.stateful.resources("AWS::KMS::Key").values()
    assert key["Properties"]["EnableKeyRotation"] is True
    assert key["DeletionPolicy"] == "RetainExceptOnCreate"
    by_services = [
        (text_of(each["Principal"]["Service"]), each.get("Condition"))
        for each in key["Properties"]["KeyPolicy"]["Statement"]
        if "Service" in each["Principal"]
    ]
    assert [service for service, _ in by_services] == [
        "logs.region.amazonaws.com",
        "cloudwatch.amazonaws.com",
        "budgets.amazonaws.com",
        "events.amazonaws.com",
    ]
    assert [service for service, condition in by_services if condition is None] == ["events.amazonaws.com"], (
        "the others in the name of this deployment or account only; of EventBridge AWS supports no condition"
    )
    assert not given.stateful.resources("AWS::KMS::Key")


def test_the_api_has_the_operators_name_and_no_other(everything: Synthesised) -> None:
    (api,) = everything.stateless.properties("AWS::ApiGatewayV2::Api")
    assert api["DisableExecuteApiEndpoint"] is True
    (domain,) = everything.stateless.properties("AWS::ApiGatewayV2::DomainName")
    (configuration,) = domain["DomainNameConfigurations"]
    assert (domain["DomainName"], configuration["SecurityPolicy"]) == (ORIGIN.name, "TLS_1_2")
    assert configuration["CertificateArn"] == ORIGIN.certificate_arn
    (mapping,) = everything.stateless.properties("AWS::ApiGatewayV2::ApiMapping")
    assert mapping["DomainName"] == {
        "Ref": next(iter(everything.stateless.resources("AWS::ApiGatewayV2::DomainName")))
    }
    assert outputs(everything.stateless)["ApiUrl"] == f"https://{FRONT.name}"
    assert "DomainTarget" in outputs(everything.stateless)


def test_without_a_domain_the_api_has_the_gateways_name(prod: Synthesised) -> None:
    (api,) = prod.stateless.properties("AWS::ApiGatewayV2::Api")
    assert not api.get("DisableExecuteApiEndpoint")
    assert prod.edge is None


def test_what_passes_cloudfront_has_the_secret_and_the_functions_have_its_hash(
    everything: Synthesised,
) -> None:
    (distribution,) = edge_of(everything).properties("AWS::CloudFront::Distribution")
    config = distribution["DistributionConfig"]
    (origin,) = config["Origins"]
    (header,) = origin["OriginCustomHeaders"]
    assert origin["DomainName"] == ORIGIN.name
    assert header == {
        "HeaderName": "x-acta-origin",
        "HeaderValue": "{{resolve:secretsmanager:acta/prod/origin:SecretString:::}}",
    }
    assert config["Aliases"] == [FRONT.name]
    assert HASH[:8] in config["Comment"], (
        "a new secret changes the distribution, so that CloudFormation reads it"
    )
    for name in ("start", "status", "intervene", "admin", "step", "wake", "console", "fallback"):
        variables = everything.stateless.function(name)["Environment"]["Variables"]
        assert variables["ACTA_ORIGIN_HASHES"] == HASH
    assert "resolve:secretsmanager" not in json.dumps(everything.stateless.body)


def test_cloudfront_caches_nothing_no_error_either(everything: Synthesised) -> None:
    (distribution,) = edge_of(everything).properties("AWS::CloudFront::Distribution")
    config = distribution["DistributionConfig"]
    behavior = config["DefaultCacheBehavior"]
    assert behavior["CachePolicyId"] == "4135ea2d-6df8-44a3-9df3-4b5a84be39ad", "AWS's CachingDisabled"
    assert behavior["ViewerProtocolPolicy"] == "https-only"
    errors = {each["ErrorCode"]: each["ErrorCachingMinTTL"] for each in config["CustomErrorResponses"]}
    assert set(errors) >= {400, 403, 404, 405, 500, 502, 503, 504}
    assert set(errors.values()) == {0}


def test_the_address_that_the_functions_are_told_is_the_one_that_cloudfront_saw(
    everything: Synthesised,
) -> None:
    (function,) = edge_of(everything).properties("AWS::CloudFront::Function")
    assert 'headers["x-acta-address"] = { value: event.viewer.ip }' in function["FunctionCode"]
    (distribution,) = edge_of(everything).properties("AWS::CloudFront::Distribution")
    (ran,) = distribution["DistributionConfig"]["DefaultCacheBehavior"]["FunctionAssociations"]
    assert ran["EventType"] == "viewer-request"


def test_the_firewall_refuses_by_address_and_its_log_has_no_path_and_no_token(
    everything: Synthesised,
) -> None:
    (acl,) = edge_of(everything).properties("AWS::WAFv2::WebACL")
    rules = {rule["Name"]: rule for rule in acl["Rules"]}
    assert acl["Scope"] == "CLOUDFRONT"
    limit = rules["TooManyFromOneAddress"]["Statement"]["RateBasedStatement"]
    assert (limit["Limit"], limit["AggregateKeyType"]) == (EDGE.requests_per_address, "IP")
    assert rules["TooManyFromOneAddress"]["Action"] == {"Block": {}}
    shows = [each["VisibilityConfig"]["SampledRequestsEnabled"] for each in (acl, *acl["Rules"])]
    assert shows == [False] * 3
    (logging,) = edge_of(everything).properties("AWS::WAFv2::LoggingConfiguration")
    assert text_of(logging["LogDestinationConfigs"][0]).endswith(":log-group:aws-waf-logs-acta-prod")
    redacted = [
        each.get("SingleHeader", {}).get("Name") or next(iter(each)) for each in logging["RedactedFields"]
    ]
    headers = ["authorization", "cookie", "idempotency-key", "referer", "mcp-name"]
    assert redacted == ["UriPath", "QueryString", *headers]


def test_the_operators_own_firewall_takes_the_place_of_actas(given: Synthesised) -> None:
    assert not edge_of(given).resources("AWS::WAFv2::WebACL")
    (distribution,) = edge_of(given).properties("AWS::CloudFront::Distribution")
    assert distribution["DistributionConfig"]["WebACLId"] == OPERATORS_ACL


def test_the_front_takes_nothing_from_the_other_stacks(everything: Synthesised) -> None:
    """It is in another region, where no value of theirs can be read."""
    text = json.dumps(edge_of(everything).body)
    assert "ImportValue" not in text
    assert "Acta-prod-State" not in text


@pytest.mark.parametrize("function", BY_TENANT)
def test_who_reads_for_one_tenant_may_still_use_the_key(function: str, given: Synthesised) -> None:
    """What a session policy does not name, no role gives."""
    role = policies(given, f"{function.capitalize()}TenantRole")
    (via,) = {
        text_of(each)
        for statement in given.stateless.statements(f"{function.capitalize()}TenantRole")
        if statement["Sid"] == "Key"
        for each in statement["Condition"]["StringEquals"]["kms:ViaService"]
        if "s3" in text_of(each)
    }
    for action in ("kms:Decrypt", "kms:GenerateDataKey"):
        ask = Ask(action, KEY_ARN, {"kms:ViaService": [via]})
        assert is_allowed(ask, role, narrowed_to("acme"))
        assert not is_allowed(ask._replace(context={}), role, narrowed_to("acme"))


def test_the_user_pool_stands_behind_a_firewall(everything: Synthesised, prod: Synthesised) -> None:
    (acl,) = everything.stateless.properties("AWS::WAFv2::WebACL")
    assert (acl["Scope"], acl["Rules"][1]["Statement"]["RateBasedStatement"]["Limit"]) == ("REGIONAL", 200)
    (association,) = everything.stateless.properties("AWS::WAFv2::WebACLAssociation")
    assert text_of(association["ResourceArn"]) == "UsersPool.Arn"
    assert not prod.stateless.resources("AWS::WAFv2::WebACL")


def test_every_role_is_bounded(everything: Synthesised, prod: Synthesised) -> None:
    roles = [
        role
        for made in (*templates(everything), edge_of(everything))
        for role in made.properties("AWS::IAM::Role")
    ]
    assert len(roles) >= len(EVERYTHING.functions) + 1
    assert {json.dumps(role.get("PermissionsBoundary")) for role in roles} == {json.dumps(BOUNDARY)}
    assert "PermissionsBoundary" not in json.dumps(prod.stateless.body)


def rules_of(group: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What leaves by it: protocol and port, and where to."""
    where = ("DestinationPrefixListId", "CidrIp", "CidrIpv6", "DestinationSecurityGroupId")
    return [
        (
            f"{rule['IpProtocol']}/{rule['FromPort']}",
            text_of(next(rule[name] for name in where if name in rule)),
        )
        for rule in group.get("SecurityGroupEgress", ())
    ]


def test_functions_of_tools_alone_are_in_the_network_and_reach_what_they_may_by_https(
    everything: Synthesised, given: Synthesised
) -> None:
    for made, reaches in (
        (
            everything,
            [*NETWORK.prefix_list_ids, "203.0.113.0/24", "2001:db8::/32", "ToolNetworkEndpointGroup.GroupId"],
        ),
        (given, [*NETWORK.prefix_list_ids]),
    ):
        ((name, group),) = (
            (name, each["Properties"])
            for name, each in made.stateless.resources("AWS::EC2::SecurityGroup").items()
            if name.startswith("ToolNetworkGroup")
        )
        assert rules_of(group) == [("tcp/443", each) for each in reaches]
        assert "SecurityGroupIngress" not in group
        for function in made.environment.functions:
            placed = made.stateless.function(function).get("VpcConfig")
            assert (placed is not None) == (function == "tool")
        placed = [
            each["VpcConfig"]
            for each in made.stateless.properties("AWS::Lambda::Function")
            if "-tool" in each.get("FunctionName", "")
        ]
        where = {
            "SecurityGroupIds": [{"Fn::GetAtt": [name, "GroupId"]}],
            "SubnetIds": list(NETWORK.subnet_ids),
        }
        assert placed == [where] * (1 + len(made.environment.tool_folders))


def test_endpoints_are_made_on_demand_for_this_accounts_resources_alone(
    everything: Synthesised, given: Synthesised
) -> None:
    made = everything.stateless.properties("AWS::EC2::VPCEndpoint")
    services = {text_of(each["ServiceName"]).removeprefix("com.amazonaws.region."): each for each in made}
    assert {name: each["VpcEndpointType"] for name, each in services.items()} == {
        "dynamodb": "Gateway",
        "s3": "Gateway",
        "lambda": "Interface",
        "secretsmanager": "Interface",
        "states": "Interface",
        "sts": "Interface",
    }
    account = {"Ref": "AWS::AccountId"}
    for each in made:
        (only,) = each["PolicyDocument"]["Statement"]
        assert only["Condition"] == {
            "StringEquals": {"aws:PrincipalAccount": account, "aws:ResourceAccount": account}
        }
    ((_, ingress),) = everything.stateless.resources("AWS::EC2::SecurityGroupIngress").items()
    assert text_of(ingress["Properties"]["SourceSecurityGroupId"]) == "ToolNetworkGroup.GroupId"
    assert not given.stateless.resources("AWS::EC2::VPCEndpoint")


@pytest.mark.parametrize(
    ("role", "name"), [("ToolBaseRole", "acta-prod-tool"), ("ToolsordersRole", "acta-prod-tool-orders")]
)
def test_lambda_may_put_tools_into_the_network_and_the_code_in_them_may_not(
    everything: Synthesised, role: str, name: str
) -> None:
    statements = {each.get("Sid"): each for each in everything.stateless.statements(role)}
    assert set(statements["Join"]["Action"]) == set(statements["NotItself"]["Action"])
    assert statements["NotItself"]["Effect"] == "Deny"
    (function,) = statements["NotItself"]["Condition"]["ArnEquals"].values()
    assert text_of(function) == f"arn:aws:lambda:region:account:function:{name}"
    for other in ("StepBaseRole", "AdminBaseRole", "ToolTenantRole"):
        assert "Join" not in {each.get("Sid") for each in everything.stateless.statements(other)}


def test_the_access_log_says_who_asked_unless_it_must_not(prod: Synthesised, given: Synthesised) -> None:
    written = [
        json.loads(made.stateless.properties("AWS::ApiGatewayV2::Stage")[0]["AccessLogSettings"]["Format"])
        for made in (prod, given)
    ]
    who = {"subject": "$context.authorizer.claims.sub", "address": "$context.identity.sourceIp"}
    assert written[0] == {**written[1], **who}
    assert not set(who) & set(written[1])
