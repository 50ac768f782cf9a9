"""The stack that a release replaces: the functions, the state machine, the HTTP API and the alarms."""

import json
from collections.abc import Mapping

from aws_cdk import ArnFormat, CfnOutput, CfnParameter, CustomResource, Duration, Stack
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from acta.engine.prompts.prompt import SEEDS
from acta.engine.settings import PREFIX
from acta.engine.store.schema import CURRENT
from acta.infra.api.http_api import ApiGateway, Issuer
from acta.infra.api.issuers import ExternalIssuer
from acta.infra.api.user_pool import SCOPES, ConsoleSignIn, UserPool
from acta.infra.data_stores import place
from acta.infra.engine.state_machine import StateMachine, call_recovery, execution_arns, machine_arn
from acta.infra.environments import Environment
from acta.infra.event_feeds import create_feeds, feed_wake
from acta.infra.hardening.edge import guard_sign_in
from acta.infra.hardening.network import ToolNetwork
from acta.infra.lambdas.function import ActaFunction, ToolFolderFunction
from acta.infra.lambdas.roles import Resources
from acta.infra.names import (
    DECIDED,
    READS_VERSION,
    called_name,
    notification_secrets,
    stateless_stack,
    tenant_functions,
    tool_secrets,
)
from acta.infra.packaging.install import target_of
from acta.infra.packaging.tool_catalogue import build_folder, to_catalogue
from acta.infra.posture import decisions_of
from acta.infra.sizing import KNOW_ADDRESS, FunctionName
from acta.infra.stateful import SessionsStack, StatefulStack
from acta.infra.stream import (
    create_delivery,
    create_traces,
    feed_notify,
    feed_traces,
    feed_usage,
    reads_stream,
)
from acta.infra.watching.alarms import Alarms, Receivers
from acta.infra.watching.dashboard import Dashboard, save_queries
from acta.infra.watching.roll_out import GradualRollOut


class StatelessStack(Stack):
    """Outputs `ApiUrl`, `ApiId`, `StateMachineArn`, `TableName`, `BucketName`, `SessionBucketName`,
    `AuditTableName` and `ReadsVersion`; in AWS also what `acta login` needs (`_sign_in`)."""

    def __init__(
        self, scope: Construct, environment: Environment, stateful: StatefulStack, sessions: SessionsStack
    ) -> None:
        super().__init__(
            scope,
            stateless_stack(environment.name),
            env=place(environment),
            description=f"Acta ({environment.name}): functions, state machine and API",
        )
        stream_arn = stateful.stream_arn
        built = [build_folder(folder, target_of(environment)) for folder in environment.tool_folders]
        own_tools = {each.folder.name: ToolFolderFunction(self, environment, each) for each in built}
        delivery = create_delivery(self, environment, stream_arn)
        traces = create_traces(self, environment)
        feeds = create_feeds(self, environment)
        resources = Resources(
            table=stateful.table,
            bucket=stateful.bucket,
            session_bucket=sessions.bucket,
            audit=sessions.audit,
            secrets=stateful.secrets,
            url_secret=stateful.url_secret,
            state_machine_arn=machine_arn(self, environment),
            execution_arns=execution_arns(self, environment),
            tenant_function_arns=self._arns("lambda", "function", tenant_functions(environment.name)),
            tool_function_arn=self._arns("lambda", "function", called_name(environment.name, "tool")),
            recover_function_arn=self._arns("lambda", "function", called_name(environment.name, "recover")),
            tool_secret_arns=self._arns("secretsmanager", "secret", tool_secrets(environment.name)),
            receiver_secret_arns=self._arns(
                "secretsmanager", "secret", notification_secrets(environment.name)
            ),
            delivery=delivery,
            traces=traces,
            feeds=feeds,
            stream=reads_stream(stream_arn),
            own_tools=to_catalogue(built, environment.name, environment.longest_tool_seconds),
            own_tool_versions={
                name: each.version for name, each in own_tools.items() if each.version is not None
            },
        )
        made = {name: ActaFunction(self, name, environment, resources) for name in environment.functions}
        functions: Mapping[FunctionName, lambda_.IFunction] = {
            name: each.function for name, each in made.items()
        }
        called: Mapping[FunctionName, lambda_.Alias] = {name: each.called for name, each in made.items()}
        self._store_prompts(functions)
        if delivery.queue is not None:
            feed_notify(self, environment, called["notify"], stream_arn, delivery.queue)
        feed_usage(self, environment, called["usage"], stream_arn)
        if traces.queue is not None:
            feed_traces(self, environment, called["traces"], traces.queue)
        feed_wake(self, environment, called["wake"], feeds, stateful.bucket.bucket_name)
        engine = StateMachine(self, environment, called)
        call_recovery(self, called["recover"], engine.machine, admits=environment.may_queue)
        api = ApiGateway(self, environment)
        page = ConsoleSignIn(self, environment, stateful.user_pool, api.url)
        for variable, value in page.variables.items():
            made["console"].function.add_environment(variable, value)
        issuer = self._issuer(environment, stateful.user_pool)
        if not environment.is_local:  # locally the launcher provides the address
            made["fallback"].function.add_environment(f"{PREFIX}TOKEN_ISSUER", issuer.url)
            for tells in KNOW_ADDRESS:
                made[tells].function.add_environment(f"{PREFIX}PUBLIC_URL", api.url)
            if environment.console_url:
                made["mcp"].function.add_environment(f"{PREFIX}NOTIFY_CONSOLE_URL", environment.console_url)
        api.add_routes(Issuer(issuer.url, [*issuer.audiences, *page.audiences]), called)
        if made.get("notify") is not None and not environment.is_local:
            made["notify"].function.add_environment(f"{PREFIX}NOTIFY_API_URL", api.url)
        if environment.tool_network:
            members = [(made["tool"], "BaseRole"), *((each, "Role") for each in own_tools.values())]
            ToolNetwork(self, environment.tool_network, members)
        if environment.sign_in_firewall is not None and stateful.user_pool is not None:
            guard_sign_in(self, environment.name, environment.sign_in_firewall, stateful.user_pool.arn)
        GradualRollOut(self, environment, called, api.http_api)
        if environment.alarms:
            topic = Receivers(self, environment).topic
            Alarms(
                self,
                environment,
                topic,
                functions,
                {name: each.function for name, each in own_tools.items()},
                engine.machine,
                api.http_api,
                api.refusals,
                delivery.queue,
                feeds,
            )
        if environment.dashboard:
            Dashboard(self, environment, functions, engine.machine, api.http_api, delivery.queue)
            if not environment.is_local:  # the local AWS has no Logs Insights
                save_queries(self, environment)

        outputs = {
            "ApiUrl": api.url,
            "ApiId": api.http_api.api_id,
            "StateMachineArn": engine.machine.state_machine_arn,
            "TableName": stateful.table.table_name,
            "BucketName": stateful.bucket.bucket_name,
            READS_VERSION: str(CURRENT),
            "SessionBucketName": sessions.bucket.bucket_name,
            "AuditTableName": sessions.audit.table.table_name,
        }
        if decided := decisions_of(environment):
            outputs[DECIDED] = json.dumps(decided)
        outputs |= _sign_in(environment, stateful.user_pool)
        for name, value in outputs.items():
            CfnOutput(self, name, value=value)

    def _store_prompts(self, functions: Mapping[FunctionName, lambda_.IFunction]) -> None:
        """Stores the product's prompts when the stack is deployed, and again when a release changes their texts.

        The texts are properties of a custom resource, which the function `admin` answers. So a changed text updates the
        resource, and a rollback stores the former text again. `acta/engine/prompts/seeding.py` writes them and
        leaves tenants' own versions alone.
        """
        prompts = CustomResource(
            Construct(self, "Seeds"),
            "Prompts",
            resource_type="Custom::ActaPrompts",
            service_token=functions["admin"].function_arn,
            service_timeout=Duration.seconds(120),
            properties={"Prompts": dict(SEEDS)},
        )
        # `step` reads prompts, and its process caches them until the tenant changes a definition. So `step` is updated
        # only after the prompts are stored.
        functions["step"].node.add_dependency(prompts)

    def _arns(self, service: str, resource: str, names: str) -> str:
        """ARNs of these names, in this account and region only."""
        return self.format_arn(
            service=service, resource=resource, resource_name=names, arn_format=ArnFormat.COLON_RESOURCE_NAME
        )

    def _issuer(self, environment: Environment, pool: UserPool | None) -> Issuer:
        if pool is not None:
            return Issuer(pool.issuer_url, pool.audiences)
        if isinstance(environment.auth, ExternalIssuer):
            return Issuer(environment.auth.issuer_url, [environment.auth.audience])
        return Issuer(
            CfnParameter(self, "IssuerUrl", description="Issuer of the tokens let in").value_as_string,
            [CfnParameter(self, "Audience", description="Audience they are made for").value_as_string],
        )


def machine_output(name: str) -> str:
    """The output with the machine's client id: `MachineNightlyReport` for `nightly-report`. A digit has no capital, so
    `report-1` would get the output of `report1`; it gets `MachinexreportH1` instead, and all names differ. Source:
    CloudFormation's template reference allows letters and digits in an output's name.
    """
    parts = name.split("-")
    if any(part[0].isdigit() for part in parts[1:]):
        return f"Machinex{'H'.join(parts)}"
    return f"Machine{''.join(part.capitalize() for part in parts)}"


def _sign_in(environment: Environment, pool: UserPool | None) -> dict[str, str]:
    """Outputs `Issuer` and `Audience`. Where people can sign in on the command line or a page, also `SignInClient`,
    `SignInScopes`, `SignInTakes` and `PageClient`. With Acta's own pool, also `UserPoolId`, and for each machine its
    client's id, such as `MachineNightlyReport`.
    """
    auth = environment.auth
    if pool is not None:
        found = {
            "Issuer": pool.issuer_url,
            "Audience": pool.client_id,
            "UserPoolId": pool.pool_id,
            "SignInClient": pool.client_id,
            "SignInScopes": " ".join(SCOPES),
            "SignInTakes": "id_token",
            **{machine_output(name): client_id for name, client_id in pool.machine_ids.items()},
        }
        return found if pool.page_client_id is None else {**found, "PageClient": pool.page_client_id}
    if not isinstance(auth, ExternalIssuer):
        return {}
    found = {"Issuer": auth.issuer_url, "Audience": auth.audience}
    if auth.sign_in_client:
        found |= {
            "SignInClient": auth.sign_in_client,
            "SignInScopes": " ".join(auth.sign_in_scopes),
            "SignInTakes": auth.sign_in_takes,
        }
    return found
