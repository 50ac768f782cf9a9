"""A firewall (AWS WAF) that counts requests by address and refuses known attackers.

No rule looks into bodies: people write code, queries and log lines to agents, and such rules would refuse them.
"""

from typing import Literal

from aws_cdk import aws_wafv2 as wafv2
from constructs import Construct

from acta_infra.options import SignInFirewall

WINDOW_SECONDS = 300


class Firewall(Construct):
    """`self.arn` is the web ACL's. `where`: what it can be put in front of. `requests_per_address`: in five minutes."""

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
                            evaluation_window_sec=WINDOW_SECONDS,
                        )
                    ),
                    visibility_config=_counted(f"{name}-too-many"),
                ),
            ],
        )
        self.arn = acl.attr_arn


def guard_sign_in(scope: Construct, environment: str, option: SignInFirewall, pool_arn: str) -> None:
    """In front of everything of the user pool: sign-in, refresh, forgotten passwords. `environment`: its name."""
    firewall = Firewall(scope, f"acta-{environment}-sign-in", "REGIONAL", option.requests_per_address)
    wafv2.CfnWebACLAssociation(scope, "SignInFirewall", resource_arn=pool_arn, web_acl_arn=firewall.arn)


def _counted(name: str) -> wafv2.CfnWebACL.VisibilityConfigProperty:
    """In CloudWatch's metrics, without samples: those show paths."""
    return wafv2.CfnWebACL.VisibilityConfigProperty(
        cloud_watch_metrics_enabled=True, metric_name=name, sampled_requests_enabled=False
    )
