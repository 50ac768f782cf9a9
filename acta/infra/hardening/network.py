"""The functions that run tools in a network of the operator's: a security group for them, and endpoints of AWS's
services. They are the function `tool` and those of the folders of Python tools, and they reach the same things.
"""

from collections.abc import Sequence
from typing import Any, Literal, cast

from aws_cdk import Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from acta.infra.lambdas.roles import add_inline_policy
from acta.infra.options import Network

HTTPS = 443
GATEWAYS = ("dynamodb", "s3")
INTERFACES = ("lambda", "secretsmanager", "states", "sts")
"""The other services that tools call. Logs and traces do not pass through this network."""
NOWHERE = ec2.CfnSecurityGroup.EgressProperty(
    ip_protocol="icmp", from_port=252, to_port=86, cidr_ip="255.255.255.255/32", description="nothing"
)
"""A rule that reaches nothing: if a group has no rule, EC2 adds one that allows everything."""
JOIN = (
    "ec2:AssignPrivateIpAddresses",
    "ec2:CreateNetworkInterface",
    "ec2:DeleteNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
    "ec2:UnassignPrivateIpAddresses",
)
"""Source: Lambda developer guide, "Giving Lambda functions access to resources in an Amazon VPC"."""


class ToolNetwork(Construct):
    """Puts functions into the network. `members`: each one's construct, and the id of its role inside the construct."""

    def __init__(self, scope: Construct, network: Network, members: Sequence[tuple[Construct, str]]) -> None:
        super().__init__(scope, "ToolNetwork")
        self._network = network
        endpoints = self._endpoints() if network.route_table_ids else None
        group = self._security_group(endpoints)
        for member, role in members:
            function = cast(lambda_.CfnFunction, _child(member, "Function"))
            function.vpc_config = lambda_.CfnFunction.VpcConfigProperty(
                subnet_ids=list(network.subnet_ids), security_group_ids=[group.attr_group_id]
            )
            add_inline_policy(
                cast(iam.CfnRole, _child(member, role)), "network", *_lambda_alone_may_join(function)
            )

    def _security_group(self, endpoints: ec2.CfnSecurityGroup | None) -> ec2.CfnSecurityGroup:
        """Lets nothing in. Names are looked up at the VPC's own resolver, which security groups cannot block."""
        network = self._network
        allowed = [
            *(_https(destination_prefix_list_id=each) for each in network.prefix_list_ids),
            *(_https(cidr_ipv6=each) if ":" in each else _https(cidr_ip=each) for each in network.egress),
        ]
        if endpoints is not None:
            allowed.append(_https(destination_security_group_id=endpoints.attr_group_id))
        group = ec2.CfnSecurityGroup(
            self,
            "Group",
            group_description="Acta: functions of tools",
            vpc_id=network.vpc_id,
            security_group_egress=allowed,
        )
        if endpoints is not None:
            ec2.CfnSecurityGroupIngress(
                self,
                "In",
                group_id=endpoints.attr_group_id,
                source_security_group_id=group.attr_group_id,
                ip_protocol="tcp",
                from_port=HTTPS,
                to_port=HTTPS,
                description="from tools",
            )
        return group

    def _endpoints(self) -> ec2.CfnSecurityGroup:
        """Returns the security group of the endpoints with an address in the subnets; the others are routes."""
        network = self._network
        group = ec2.CfnSecurityGroup(
            self,
            "EndpointGroup",
            group_description="Acta: endpoints of AWS for tools",
            vpc_id=network.vpc_id,
            security_group_egress=[NOWHERE],
        )
        for service in GATEWAYS:
            self._endpoint(service, "Gateway", route_table_ids=list(network.route_table_ids))
        for service in INTERFACES:
            self._endpoint(
                service,
                "Interface",
                subnet_ids=list(network.subnet_ids),
                security_group_ids=[group.attr_group_id],
                private_dns_enabled=True,
            )
        return group

    def _endpoint(self, service: str, kind: Literal["Gateway", "Interface"], **where: Any) -> None:
        """`where`: the subnets and groups, or the route tables, that belong to this kind."""
        stack = Stack.of(self)
        # Only principals and resources of this account, so a tool cannot write what it reads into a stranger's bucket.
        own_account_only = iam.PolicyStatement(
            sid="OwnAccount",
            principals=[iam.AnyPrincipal()],
            actions=["*"],
            resources=["*"],
            conditions={
                "StringEquals": {"aws:PrincipalAccount": stack.account, "aws:ResourceAccount": stack.account}
            },
        )
        ec2.CfnVPCEndpoint(
            self,
            f"{service.capitalize()}Endpoint",
            vpc_id=self._network.vpc_id,
            service_name=f"com.amazonaws.{stack.region}.{service}",
            vpc_endpoint_type=kind,
            policy_document=iam.PolicyDocument(statements=[own_account_only]),
            **where,
        )


def _child(construct: Construct, name: str) -> object:
    """The resource of a construct inside this one."""
    return construct.node.find_child(name).node.default_child


def _https(**where: str) -> ec2.CfnSecurityGroup.EgressProperty:
    return ec2.CfnSecurityGroup.EgressProperty(
        ip_protocol="tcp", from_port=HTTPS, to_port=HTTPS, description="https", **where
    )


def _lambda_alone_may_join(function: lambda_.CfnFunction) -> tuple[iam.PolicyStatement, iam.PolicyStatement]:
    """Lambda creates the network interfaces with the function's role. The function's code has the same role but may
    not. Resource-level permissions cannot tell the two apart. Source: as `JOIN`, "Best practices".
    """
    stack = Stack.of(function)
    arn = f"arn:{stack.partition}:lambda:{stack.region}:{stack.account}:function:{function.function_name}"
    may = iam.PolicyStatement(sid="Join", actions=list(JOIN), resources=["*"])
    not_itself = iam.PolicyStatement(
        sid="NotItself",
        effect=iam.Effect.DENY,
        actions=list(JOIN),
        resources=["*"],
        conditions={"ArnEquals": {"lambda:SourceFunctionArn": arn}},
    )
    return may, not_itself
