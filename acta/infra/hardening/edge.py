"""CloudFront with a firewall in front of the API. They are a separate stack, because both live in us-east-1.

It takes nothing from the other stacks: the API has a name of the operator's (`Environment.domain`), and the functions
know the origin secret by its hash (`acta/engine/api/incoming.py`). So no value has to cross a region.

The firewall (AWS WAF) counts requests by address and refuses known attackers. No rule looks into bodies: people write
code, queries and log lines to agents, and such rules would refuse them.
"""

import json
from typing import Literal

from aws_cdk import ArnFormat, CfnOutput, Duration, SecretValue, Stack
from aws_cdk import Environment as Where
from aws_cdk import aws_certificatemanager as acm
from aws_cdk import aws_cloudfront as cloudfront
from aws_cdk import aws_cloudfront_origins as origins
from aws_cdk import aws_wafv2 as wafv2
from constructs import Construct

from acta.engine.api.incoming import ADDRESS_HEADER, SECRET_HEADER
from acta.infra.data_stores import new_log_group
from acta.infra.environments import Environment
from acta.infra.names import ORIGIN, edge_stack, secret_name
from acta.infra.options import EDGE_REGION, FIREWALL_SECONDS, Domain, Edge, SignInFirewall


class Firewall(Construct):
    """`self.arn` is the web ACL's. `where`: WAF's scope. `requests_per_address`: allowed in five minutes."""

    def __init__(
        self, scope: Construct, name: str, where: Literal["CLOUDFRONT", "REGIONAL"], requests_per_address: int
    ) -> None:
        super().__init__(scope, "Firewall")
        acl = wafv2.CfnWebACL(
            self,
            "Acl",
            name=name,
            scope=where,
            default_action=wafv2.CfnWebACL.DefaultActionProperty(allow={}),
            visibility_config=_counted(name),
            rules=[
                wafv2.CfnWebACL.RuleProperty(
                    name="KnownAttackers",
                    priority=0,
                    override_action=wafv2.CfnWebACL.OverrideActionProperty(none={}),
                    statement=wafv2.CfnWebACL.StatementProperty(
                        managed_rule_group_statement=wafv2.CfnWebACL.ManagedRuleGroupStatementProperty(
                            vendor_name="AWS", name="AWSManagedRulesAmazonIpReputationList"
                        )
                    ),
                    visibility_config=_counted(f"{name}-known-attackers"),
                ),
                wafv2.CfnWebACL.RuleProperty(
                    name="TooManyFromOneAddress",
                    priority=1,
                    action=wafv2.CfnWebACL.RuleActionProperty(block={}),
                    statement=wafv2.CfnWebACL.StatementProperty(
                        rate_based_statement=wafv2.CfnWebACL.RateBasedStatementProperty(
                            aggregate_key_type="IP",
                            limit=requests_per_address,
                            evaluation_window_sec=FIREWALL_SECONDS,
                        )
                    ),
                    visibility_config=_counted(f"{name}-too-many"),
                ),
            ],
        )
        self.arn = acl.attr_arn


def guard_sign_in(scope: Construct, environment: str, option: SignInFirewall, pool_arn: str) -> None:
    """Protects the whole user pool with a firewall: sign-in, refresh, forgotten passwords. `environment`: its name."""
    firewall = Firewall(scope, f"acta-{environment}-sign-in", "REGIONAL", option.requests_per_address)
    wafv2.CfnWebACLAssociation(scope, "SignInFirewall", resource_arn=pool_arn, web_acl_arn=firewall.arn)


def _counted(name: str) -> wafv2.CfnWebACL.VisibilityConfigProperty:
    """Counts requests in CloudWatch's metrics, but keeps no sample requests, since those show paths."""
    return wafv2.CfnWebACL.VisibilityConfigProperty(
        cloud_watch_metrics_enabled=True, metric_name=name, sampled_requests_enabled=False
    )


NAMES_THE_ADDRESS = f"""
function handler(event) {{
  event.request.headers[{json.dumps(ADDRESS_HEADER)}] = {{ value: event.viewer.ip }};
  return event.request;
}}
"""
"""A function that runs in CloudFront. It replaces whatever the client sent in that header."""


CACHED_ERRORS = (400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504)
"""CloudFront caches these answers for ten seconds by default, even if it caches nothing else. Then one tenant could get
another tenant's 404.
"""


class EdgeStack(Stack):
    """Output `EdgeTarget`: what the DNS record of `edge.domain` points to. `origin`: the API's own name."""

    def __init__(self, scope: Construct, environment: Environment, edge: Edge, origin: Domain) -> None:
        super().__init__(
            scope,
            edge_stack(environment.name),
            env=Where(account=environment.account, region=EDGE_REGION),
            termination_protection=environment.deletion_protection,
            description=f"Acta ({environment.name}): CloudFront and its firewall",
        )
        web_acl = edge.web_acl_arn or self._firewall(environment, edge)
        distribution = cloudfront.Distribution(
            self,
            "Distribution",
            domain_names=[edge.domain.name],
            certificate=acm.Certificate.from_certificate_arn(
                self, "Certificate", edge.domain.certificate_arn
            ),
            minimum_protocol_version=cloudfront.SecurityPolicyProtocol.TLS_V1_2_2021,
            web_acl_id=web_acl,
            # CloudFormation reads the secret when the distribution changes. A new hash changes this text.
            comment=f"Acta {environment.name}, origin secret {edge.origin_hashes[0][:8]}",
            error_responses=[
                cloudfront.ErrorResponse(http_status=status, ttl=Duration.seconds(0))
                for status in CACHED_ERRORS
            ],
            default_behavior=cloudfront.BehaviorOptions(
                origin=origins.HttpOrigin(
                    origin.name,
                    protocol_policy=cloudfront.OriginProtocolPolicy.HTTPS_ONLY,
                    origin_ssl_protocols=[cloudfront.OriginSslPolicy.TLS_V1_2],
                    read_timeout=Duration.seconds(60),  # the API ends a request after 30 by itself
                    custom_headers={
                        SECRET_HEADER: SecretValue.secrets_manager(
                            secret_name(environment.name, ORIGIN)
                        ).unsafe_unwrap()
                    },
                ),
                viewer_protocol_policy=cloudfront.ViewerProtocolPolicy.HTTPS_ONLY,
                allowed_methods=cloudfront.AllowedMethods.ALLOW_ALL,
                cache_policy=cloudfront.CachePolicy.CACHING_DISABLED,
                origin_request_policy=cloudfront.OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
                function_associations=[
                    cloudfront.FunctionAssociation(
                        event_type=cloudfront.FunctionEventType.VIEWER_REQUEST,
                        function=cloudfront.Function(
                            self,
                            "Address",
                            code=cloudfront.FunctionCode.from_inline(NAMES_THE_ADDRESS.strip()),
                            runtime=cloudfront.FunctionRuntime.JS_2_0,
                        ),
                    )
                ],
            ),
        )
        CfnOutput(self, "EdgeTarget", value=distribution.distribution_domain_name)

    def _firewall(self, environment: Environment, edge: Edge) -> str:
        """Its log has addresses and what was decided, and no path, query, token or cookie. `referer` has a path and a
        query, too, and `mcp-name` the name of a session or a tool."""
        name = f"acta-{environment.name}"
        firewall = Firewall(self, name, "CLOUDFRONT", edge.requests_per_address)
        group_name = f"aws-waf-logs-{name}"  # WAF takes groups with this beginning only
        log_group = new_log_group(self, "FirewallLog", group_name, environment)
        # CloudFormation's ARN of a log group ends with `:*`, which WAF refuses.
        destination = self.format_arn(
            service="logs",
            resource="log-group",
            resource_name=group_name,
            arn_format=ArnFormat.COLON_RESOURCE_NAME,
        )
        headers = ("authorization", "cookie", "idempotency-key", "referer", "mcp-name")
        logging = wafv2.CfnLoggingConfiguration(
            self,
            "FirewallLogging",
            resource_arn=firewall.arn,
            log_destination_configs=[destination],
            redacted_fields=[
                wafv2.CfnLoggingConfiguration.FieldToMatchProperty(uri_path={}),
                wafv2.CfnLoggingConfiguration.FieldToMatchProperty(query_string={}),
                *(
                    wafv2.CfnLoggingConfiguration.FieldToMatchProperty(single_header={"Name": each})
                    for each in headers
                ),
            ],
        )
        logging.node.add_dependency(log_group)
        return firewall.arn
