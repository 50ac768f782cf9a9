"""The HTTP API: the routes of `acta/engine/api/operations.py`, the JWT authorizer, CORS, throttling and the
access log."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast
from zlib import crc32

from aws_cdk import CfnOutput, Duration, Stack, Tags
from aws_cdk import aws_apigatewayv2 as apigw
from aws_cdk import aws_apigatewayv2_authorizers as authorizers
from aws_cdk import aws_apigatewayv2_integrations as integrations
from aws_cdk import aws_certificatemanager as acm
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from acta.engine.api.operations import CATCH_ALL, OPEN_KEYS, OPERATIONS
from acta.infra.api.web_pages import MAX_AGE_SECONDS, METHODS, REQUEST_HEADERS, RESPONSE_HEADERS
from acta.infra.data_stores import new_log_group
from acta.infra.environments import LOCAL, Environment
from acta.infra.names import metrics_namespace
from acta.infra.options import Domain
from acta.infra.sizing import FunctionName

API_ID = "ac7a0000"
"""The id of the local stack's API."""


def local_api_id(environment: str) -> str:
    """The API's id, eight hexadecimal digits. The local AWS takes it from a tag, so the address is known before
    deployment.
    """
    return API_ID if environment == LOCAL.name else f"{crc32(environment.encode()):08x}"


# Ids, counts and durations; the route's pattern instead of the path, because a path may contain file names.
ACCESS_LOG = {
    "request_id": "$context.requestId",
    "route": "$context.routeKey",
    "status": "$context.status",
    "latency_ms": "$context.responseLatency",
    "integration_status": "$context.integrationStatus",
    "integration_error": "$context.integrationErrorMessage",
    "bytes": "$context.responseLength",
    "refused": "$context.authorizer.error",
}
CALLER = {"subject": "$context.authorizer.claims.sub", "address": "$context.identity.sourceIp"}
"""Who sent the request. The address is the client's or, with `Environment.edge`, that of CloudFront, because the
gateway cannot log headers. Then the client's address is in the firewall's log, and its network in the audit trail."""

REFUSALS = {
    "Refused": '{ ($.status = "401") || ($.status = "403") }',
    "BeyondRate": '{ $.status = "429" }',
}
"""Patterns of lines in the access log, where the status is a string. Another tenant's data answers 404, as if it did
not exist, so the two cannot be told apart.
"""


@dataclass(frozen=True)
class Issuer:
    """The issuer and the audiences of accepted tokens. One of them has to be the token's `aud`, or its `client_id`
    where it has no `aud`. Source: API Gateway developer guide, "Control access to HTTP APIs with JWT authorizers"."""

    url: str
    audiences: Sequence[str]


class ApiGateway(Construct):
    """`self.http_api`, and `self.url` without a slash at the end: where people reach it. It has no routes before
    `add_routes`, because the accepted audiences depend on its address, which the page's client at the issuer contains.
    `self.refusals`: how often requests were refused, by the gateway or by a function, by the names in `REFUSALS`; empty
    where there are no alarms.
    """

    def __init__(self, scope: Construct, environment: Environment) -> None:
        super().__init__(scope, "Api")
        self._environment = environment
        self.http_api = apigw.HttpApi(
            self,
            "Http",
            api_name=f"acta-{environment.name}",
            create_default_stage=False,
            cors_preflight=_cors(environment),
            disable_execute_api_endpoint=environment.domain is not None or None,
        )
        if environment.is_local:
            Tags.of(self.http_api).add("ms-custom-id", local_api_id(environment.name))
        own = environment.domain
        reached = own if environment.edge is None else environment.edge.domain
        self.url = self.http_api.api_endpoint if own is None or reached is None else f"https://{reached.name}"
        self.refusals: Mapping[str, cloudwatch.IMetric] = {}

    def add_routes(self, issuer: Issuer, functions: Mapping[FunctionName, lambda_.IFunction]) -> None:
        routes = self._routes(issuer, functions)
        stage = self._stage(routes)
        if self._environment.domain is not None:
            self._map_domain(self._environment.domain, stage)

    def _routes(
        self, issuer: Issuer, functions: Mapping[FunctionName, lambda_.IFunction]
    ) -> list[apigw.HttpRoute]:
        """A route without a role has no authorizer. A request that matches no route goes to the catch-all function."""
        authorizer = authorizers.HttpJwtAuthorizer("Jwt", issuer.url, jwt_audience=list(issuer.audiences))
        called = {
            name: integrations.HttpLambdaIntegration(
                name.capitalize(),
                functions[name],
                payload_format_version=apigw.PayloadFormatVersion.VERSION_2_0,
                scope_permission_to_route=False,  # one permission per function instead of one per route
            )
            for name in dict.fromkeys((*(route.function for route in OPERATIONS), CATCH_ALL))
        }
        made = [
            each
            for route in OPERATIONS
            for each in self.http_api.add_routes(
                path=route.path,
                methods=[apigw.HttpMethod[route.method]],
                integration=called[route.function],
                authorizer=apigw.HttpNoneAuthorizer() if route.role is None else authorizer,
            )
        ]
        catch_all = apigw.HttpRoute(
            self,
            "CatchAll",
            http_api=self.http_api,
            route_key=apigw.HttpRouteKey.DEFAULT,
            integration=called[CATCH_ALL],
            authorizer=apigw.HttpNoneAuthorizer(),
        )
        self._permit_before_use()
        return [*made, catch_all]

    def _permit_before_use(self) -> None:
        """Creates permissions first. Otherwise an updated API could call a function before it is allowed to."""
        made = self.node.find_all()
        permissions = [each for each in made if isinstance(each, lambda_.CfnPermission)]
        for each in made:
            if isinstance(each, apigw.CfnIntegration):
                each.node.add_dependency(*permissions)

    def _map_domain(self, named: Domain, stage: apigw.HttpStage) -> None:
        """Output `DomainTarget`: what the DNS record of the API's own name points to."""
        domain = apigw.DomainName(
            self,
            "Domain",
            domain_name=named.name,
            certificate=acm.Certificate.from_certificate_arn(self, "Certificate", named.certificate_arn),
            security_policy=apigw.SecurityPolicy.TLS_1_2,
        )
        apigw.ApiMapping(self, "Mapping", api=self.http_api, domain_name=domain, stage=stage)
        CfnOutput(Stack.of(self), "DomainTarget", value=domain.regional_domain_name)

    def _refusals(self, access_log: logs.ILogGroup) -> Mapping[str, cloudwatch.IMetric]:
        if not self._environment.alarms:
            return {}
        return {
            name: logs.MetricFilter(
                self,
                name,
                log_group=access_log,
                filter_pattern=logs.FilterPattern.literal(lines),
                metric_namespace=metrics_namespace(self._environment.name),
                metric_name=name,
            ).metric(statistic="Sum", period=Duration.minutes(5))
            for name, lines in REFUSALS.items()
        }

    def _stage(self, routes: Sequence[apigw.HttpRoute]) -> apigw.HttpStage:
        environment = self._environment
        stage = apigw.HttpStage(
            self,
            "Stage",
            http_api=self.http_api,
            stage_name="$default",
            auto_deploy=True,
            throttle=apigw.ThrottleSettings(
                rate_limit=environment.rate_limit, burst_limit=environment.burst_limit
            ),
            detailed_metrics_enabled=environment.alarms,
        )
        resource = cast(apigw.CfnStage, stage.node.default_child)
        # A route with its own settings gets none of the stage's defaults, not even the metrics.
        open_route = {
            "ThrottlingRateLimit": environment.open_rate_limit,
            "ThrottlingBurstLimit": environment.open_burst_limit,
            "DetailedMetricsEnabled": environment.alarms,
        }
        resource.route_settings = dict.fromkeys(OPEN_KEYS, open_route)
        stage.node.add_dependency(*routes)  # the gateway refuses settings for a route that does not exist yet
        if not environment.is_local:
            log_group = new_log_group(
                self, "AccessLog", f"/aws/vendedlogs/apis/acta-{environment.name}", environment
            )
            logged = {**ACCESS_LOG, **(CALLER if environment.log_callers else {})}
            resource.access_log_settings = apigw.CfnStage.AccessLogSettingsProperty(
                destination_arn=log_group.log_group_arn, format=json.dumps(logged)
            )
            self.refusals = self._refusals(log_group)
        return stage


def _cors(environment: Environment) -> apigw.CorsPreflightOptions | None:
    if not environment.cors_origins:
        return None
    return apigw.CorsPreflightOptions(
        allow_origins=list(environment.cors_origins),
        allow_methods=[apigw.CorsHttpMethod[method] for method in METHODS],
        allow_headers=REQUEST_HEADERS,
        expose_headers=RESPONSE_HEADERS,
        max_age=Duration.seconds(MAX_AGE_SECONDS),
    )
