"""What would stop a deployment, found out before it begins: `acta deploy` tells all of it at once, with what solves it.

Otherwise AWS would refuse each of these in the middle of a deployment, which is then rolled back, and the next one at
the next attempt. Everything here only reads. What the caller may not read is told, and the deployment goes on: AWS
itself refuses what is wrong.

Of names that are taken only those of secrets are looked for. CloudFormation looks for the others itself, before it
creates anything of a stack (CloudFormation user guide, "Validate stack deployments", November 2026).
"""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from acta.engine.aws.clients import Service
from acta.engine.aws.errors import NOT_FOUND, AwsRefused
from acta.infra.deployed.account import (
    AWS_ERRORS,
    CallerIdentity,
    client_in,
    regions_of,
    reserved_now,
    unless,
)
from acta.infra.deployed.stacks import UNDER_WAY, CloudFormation, StacksUnknown, secrets_in
from acta.infra.environments import Environment
from acta.infra.names import ORIGIN, edge_stack, function_name, secret_name
from acta.infra.options import EDGE_REGION, BucketObjects, BusEvents, QueueMessages
from acta.infra.sizing import FunctionName
from acta.infra.tool_folders import BadFolder

ABSENT = "ParameterNotFound"
OLDEST = 6
"""The version of the bootstrap that the templates ask for (`requiresBootstrapStackVersion` in the cloud assembly)."""
QUEUE_MISSING = "AWS.SimpleQueueService.NonExistentQueue"
FEW_EXECUTIONS = 100
"""With fewer concurrent executions than this, `acta deploy` says what the account lacks. The usual quota is 1,000, and
new accounts often begin with 10. Source: Lambda developer guide, "Lambda quotas"."""
ALWAYS_UNRESERVED = 100
"""Concurrent executions that Lambda always leaves to the functions that reserve none. Source: Lambda developer guide,
"Configuring reserved concurrency for a function"."""
UNKNOWN_TYPES = "Unrecognized resource types: "
"""What CloudFormation answers where the region lacks a type. Source: AWS Knowledge Center, "How do I resolve template
validation or template format errors in CloudFormation?"."""
WITHOUT_SNAP_START = ("ap-southeast-6", "ap-east-2", "cn-", "us-gov-", "us-iso", "eu-iso", "eusc-")
"""Beginnings of the regions' names. Source: Lambda developer guide, "Improving startup performance with Lambda
SnapStart", Supported Regions (November 2026)."""
STUCK: Mapping[str, str] = {
    "CREATE_FAILED": "aws cloudformation rollback-stack --region {region} --stack-name {stack}",
    "UPDATE_FAILED": "aws cloudformation rollback-stack --region {region} --stack-name {stack}",
    "UPDATE_ROLLBACK_FAILED": "aws cloudformation continue-update-rollback --region {region} --stack-name {stack}",
    "DELETE_FAILED": "acta destroy --env {environment}",
}
"""State in which CloudFormation takes no update -> the command that leads out of it. Source: CloudFormation user guide,
"Stack status codes" and "Continue rolling back an update"."""


@dataclass(frozen=True)
class Concurrency:
    """The concurrent executions of Lambda that an account has in a region."""

    quota: int
    reservable: int
    """How many this environment can reserve, beside what others reserve."""
    reserved: Mapping[FunctionName, int]
    """How many it reserves, by function."""

    @classmethod
    def of(cls, environment: Environment, lambdas: Service) -> "Concurrency":
        """Raises what `Service.call` raises."""
        limit = lambdas.call("get_account_settings")["AccountLimit"]
        wanted = {name: number for name in environment.functions if (number := environment.reserved(name))}
        # A deployment releases a function's old reservation no later than it makes the new one.
        names = [function_name(environment.name, each) for each in environment.functions if wanted]
        own = sum(reserved_now(lambdas, each) or 0 for each in names)
        reservable = max(0, limit["UnreservedConcurrentExecutions"] + own - ALWAYS_UNRESERVED)
        return cls(int(limit["ConcurrentExecutions"]), reservable, wanted)

    @property
    def fits(self) -> bool:
        return not self.reserved or sum(self.reserved.values()) <= self.reservable


@dataclass(frozen=True)
class DeploymentProblem:
    words: str
    """Sentences for the operator: what is wrong, and what to change where no command does it."""
    commands: tuple[str, ...] = ()
    """What solves it, line by line as somebody types it."""
    stops: bool = True
    """False: the deployment goes on, and the operator should know."""


@dataclass(frozen=True)
class Preflight:
    environment: Environment
    place: CallerIdentity
    added: Mapping[str, Mapping[str, Any]]
    """Stack -> the resources that the deployment creates in it, by logical id."""
    clients: Callable[[str, str], Any] = client_in
    """Region and service -> a botocore client."""

    def problems(self) -> Iterator[DeploymentProblem]:
        """All of them, those that do not stop the deployment included."""
        from botocore.exceptions import BotoCoreError

        checks: Mapping[str, Callable[[], Iterator[DeploymentProblem]]] = {
            "whether cdk bootstrap has prepared the region": self._bootstrap,
            "which state the stacks are in": self._stacks,
            "how many Lambdas the account may run at once": self._concurrency,
            "which types of resources the region knows": self._types,
            "what else the region offers": self._features,
            "whether secrets of an earlier deployment exist": self._secrets,
            "whether certificates are issued": self._certificates,
            "whether the secret of CloudFront exists": self._origin,
            "which endpoints the tools' VPC has": self._endpoints,
            "whether the event sources are there": self._event_sources,
        }
        for what, check in checks.items():
            try:
                yield from check()
            except (*AWS_ERRORS, BotoCoreError, StacksUnknown) as error:
                yield DeploymentProblem(f"{what} was not checked: {error}", stops=False)
        yield from self._python()

    def _service(self, name: str, region: str = "") -> Service:
        region = region or self.place.region
        return Service(name, self.clients(region, name))

    def _bootstrap(self) -> Iterator[DeploymentProblem]:
        parameter = f"/cdk-bootstrap/{self.environment.bootstrap_qualifier}/version"
        for region in regions_of(self.environment, self.place.region):
            answer = unless(ABSENT, self._service("ssm", region), "get_parameter", Name=parameter)
            version = answer["Parameter"]["Value"] if answer is not None else ""
            if version and int(version) >= OLDEST:
                continue
            found = f"prepared as of version {version}, not {OLDEST}," if version else "not prepared"
            yield DeploymentProblem(
                f"Account {self.place.account}, region {region} is {found} for deployments. How to give this fewer "
                "rights than an administrator has: docs/deploy.md, Who may deploy.",
                (f"acta bootstrap --env {self.environment.name}",),
            )

    def _stacks(self) -> Iterator[DeploymentProblem]:
        for stack in CloudFormation(self.place.region, clients=self.clients).deployed(self.environment):
            of_stack = {"region": stack.region, "stack": stack.name, "environment": self.environment.name}
            if stack.status.endswith(UNDER_WAY):
                asked = "aws cloudformation describe-stacks --region {region} --stack-name {stack}"
                yield DeploymentProblem(
                    f"The stack {stack.name} is being changed just now ({stack.status}). Deploy when that has ended.",
                    (f"{asked.format(**of_stack)} --query 'Stacks[0].StackStatus'",),
                )
            elif command := STUCK.get(stack.status):
                yield DeploymentProblem(
                    f"The stack {stack.name} is in {stack.status}, in which CloudFormation takes no update.",
                    (command.format(**of_stack),),
                )

    def _concurrency(self) -> Iterator[DeploymentProblem]:
        environment, region = self.environment, self.place.region
        found = Concurrency.of(environment, self._service("lambda"))
        more = (
            f"aws service-quotas request-service-quota-increase --region {region} --service-code lambda "
            "--quota-code L-B99A9384 --desired-value 1000",
        )
        if not found.fits:
            each = ", ".join(f"{name} {number}" for name, number in found.reserved.items())
            yield DeploymentProblem(
                f"Environment {environment.name!r} reserves {sum(found.reserved.values())} concurrent executions "
                f"({each}). The account has {found.quota} in {region}, {ALWAYS_UNRESERVED} must stay unreserved, and "
                f"others reserve some, so it can reserve {found.reservable}. Write reserved_concurrency={{…}} with "
                "smaller numbers, or {} for none, into the environment's entry, or ask AWS for a higher quota:",
                more,
            )
        if found.quota >= FEW_EXECUTIONS:
            return
        polls, fewer = environment.limits.long_polls, found.quota // 2
        careful = (
            f" Until then keep watchers from taking all of them: limits=usual_but(long_polls={fewer}) in the entry of "
            f"{environment.name} (docs/operations.md, Concurrency)."
        )
        yield DeploymentProblem(
            f"This account may run only {found.quota} Lambdas at once in {region}; new accounts often begin with 10. "
            "Each turn, tool call and waiting watcher takes one, so it carries a few sessions at a time."
            f"{careful if polls is None or polls > fewer else ''} To get more:",
            more,
            stops=False,
        )

    def _types(self) -> Iterator[DeploymentProblem]:
        """CloudFormation itself is asked, because published lists of what a region offers are out of date."""
        edge = edge_stack(self.environment.name)
        types: dict[str, set[str]] = {}
        for stack, resources in self.added.items():
            kinds = {each["Type"] for each in resources.values() if not each["Type"].startswith("Custom::")}
            types.setdefault(EDGE_REGION if stack == edge else self.place.region, set()).update(kinds)
        for region, kinds in types.items():
            template = {
                "Resources": {f"R{number}": {"Type": kind} for number, kind in enumerate(sorted(kinds))}
            }
            try:
                self._service("cloudformation", region).call(
                    "validate_template", TemplateBody=json.dumps(template)
                )
            except AwsRefused as refused:
                _, found, lacking = str(refused).partition(UNKNOWN_TYPES)
                if not found:
                    raise
                yield DeploymentProblem(
                    f"CloudFormation knows no {lacking.strip('[]')} in {region}: leave out the option that brings it "
                    "(docs/options.md), or choose another region."
                )

    def _features(self) -> Iterator[DeploymentProblem]:
        environment, here = self.environment, self.place.region
        if not environment.is_local:
            try:
                _ = replace(environment, account=self.place.account, region=here).tool_folders
            except BadFolder as error:
                yield DeploymentProblem(str(error))
        if environment.snap_start and here.startswith(WITHOUT_SNAP_START):
            yield DeploymentProblem(
                f"AWS's documentation of November 2026 lists no SnapStart in {here}. If the deployment fails because "
                f"of it, set snap_start=False in the entry of {environment.name}.",
                stops=False,
            )
        if environment.bedrock:
            models = self._service("bedrock").call("list_foundation_models", byProvider="Anthropic")[
                "modelSummaries"
            ]
            if not models:
                yield DeploymentProblem(
                    f"Amazon Bedrock offers no model of Anthropic in {here}: agents that name the provider bedrock "
                    "will not get an answer.",
                    stops=False,
                )

    def _secrets(self) -> Iterator[DeploymentProblem]:
        """Kept by an `acta destroy`, or deleted with a recovery window, which keeps their names."""
        taken: dict[str, bool] = {}
        for name in (one for resources in self.added.values() for one in secrets_in(resources)):
            answer = unless(NOT_FOUND, self._service("secretsmanager"), "describe_secret", SecretId=name)
            if answer is not None:
                taken[name] = "DeletedDate" in answer
        if not taken:
            return
        of_secret = f"aws secretsmanager {{}} --region {self.place.region} --secret-id {{}}"
        files = {each: f"{each.replace('/', '-')}.secret" for each in taken}
        commands = ["umask 077"]
        for each, is_going in taken.items():
            if is_going:
                commands.append(of_secret.format("restore-secret", each))
            read = f"{of_secret.format('get-secret-value', each)} --query SecretString --output text"
            commands.append(f'value=$({read}) && printf %s "$value" > {files[each]}')
        for each in taken:
            commands.append(f"{of_secret.format('delete-secret', each)} --force-delete-without-recovery")
        commands.append(f"acta deploy --env {self.environment.name}")
        for each in taken:
            commands.append(
                f"{of_secret.format('put-secret-value', each)} --secret-string file://{files[each]}"
            )
        yield DeploymentProblem(
            f"The deployment would create secrets that exist already ({', '.join(taken)}), and CloudFormation cannot "
            "take secrets over. These commands store their values in files that only you can read, delete the secrets, "
            "deploy, and store the values again:",
            tuple(commands),
        )

    def _certificates(self) -> Iterator[DeploymentProblem]:
        environment = self.environment
        domains = (environment.domain, environment.edge.domain if environment.edge is not None else None)
        for domain in (each for each in domains if each is not None):
            arn = domain.certificate_arn
            region = arn.split(":")[3]
            answer = unless(
                NOT_FOUND, self._service("acm", region), "describe_certificate", CertificateArn=arn
            )
            status = answer["Certificate"]["Status"] if answer is not None else "not there"
            if status != "ISSUED":
                yield DeploymentProblem(
                    f"The certificate of {domain.name} ({arn}) is {status}; it has to be ISSUED. If it waits for its "
                    "validation, create the DNS records that this names:",
                    (f"aws acm describe-certificate --region {region} --certificate-arn {arn}",),
                )

    def _origin(self) -> Iterator[DeploymentProblem]:
        if self.environment.edge is None:
            return
        name = secret_name(self.environment.name, ORIGIN)
        secrets = self._service("secretsmanager", EDGE_REGION)
        if unless(NOT_FOUND, secrets, "describe_secret", SecretId=name) is None:
            create = f"aws secretsmanager create-secret --region {EDGE_REGION} --name {name}"
            yield DeploymentProblem(
                f"The secret {name}, which CloudFront adds to requests, does not exist in {EDGE_REGION}. Its SHA-256 "
                "is one of origin_hashes (docs/options.md).",
                (f'{create} --secret-string "$SECRET"',),
            )

    def _endpoints(self) -> Iterator[DeploymentProblem]:
        network = self.environment.tool_network
        created = (each for resources in self.added.values() for each in resources.values())
        endpoints = [each["Properties"] for each in created if each["Type"] == "AWS::EC2::VPCEndpoint"]
        private = [each for each in endpoints if each.get("PrivateDnsEnabled")]
        if not private or not network:
            return
        service_names = {each["ServiceName"]["Fn::Join"][1][-1] for each in private}
        vpc = [{"Name": "vpc-id", "Values": [network.vpc_id]}]
        found = self._service("ec2").call("describe_vpc_endpoints", Filters=vpc)["VpcEndpoints"]
        for each in found:
            if each.get("PrivateDnsEnabled") and each["ServiceName"].endswith(tuple(service_names)):
                yield DeploymentProblem(
                    f"{network.vpc_id} already has the endpoint {each['VpcEndpointId']} of {each['ServiceName']} with "
                    "a private name, and a VPC takes one. Give the tools a VPC that nothing else uses, or leave "
                    "route_table_ids out of tool_network and let the tools use the endpoints that are there."
                )

    def _event_sources(self) -> Iterator[DeploymentProblem]:
        for name, source in self.environment.event_sources.items():
            match source:
                case QueueMessages():
                    yield from self._queue(name, source)
                case BucketObjects(bucket):
                    yield from self._bucket(name, bucket)
                case BusEvents(bus=bus) if bus != "default":
                    if unless(NOT_FOUND, self._service("events"), "describe_event_bus", Name=bus) is None:
                        yield DeploymentProblem(
                            f"The event source {name} takes events of the bus {bus}, which does not exist in "
                            f"{self.place.region}.",
                            (f"aws events create-event-bus --region {self.place.region} --name {bus}",),
                        )

    def _queue(self, name: str, source: QueueMessages) -> Iterator[DeploymentProblem]:
        """What Lambda would refuse, and what would lose messages or repeat them for long."""
        queues, here = self._service("sqs"), f"--region {self.place.region}"
        found = unless(QUEUE_MISSING, queues, "get_queue_url", QueueName=source.queue)
        if found is None:
            yield DeploymentProblem(
                f"The event source {name} reads the queue {source.queue}, which does not exist in {self.place.region}.",
                (f"aws sqs create-queue {here} --queue-name {source.queue}",),
            )
            return
        url = found["QueueUrl"]
        attributes = queues.call("get_queue_attributes", QueueUrl=url, AttributeNames=["All"])["Attributes"]
        least = self.environment.sizes["wake"].timeout
        if int(attributes["VisibilityTimeout"]) < 6 * least:
            yield DeploymentProblem(
                f"The visibility timeout of {source.queue} is {attributes['VisibilityTimeout']} seconds. Lambda needs "
                f"{least} at least and advises {6 * least}, six times the timeout of the function that it calls.",
                (
                    f"aws sqs set-queue-attributes {here} --queue-url {url} --attributes VisibilityTimeout={6 * least}",
                ),
                stops=int(attributes["VisibilityTimeout"]) < least,
            )
        if "RedrivePolicy" not in attributes:
            yield DeploymentProblem(
                f"The queue {source.queue} has no dead-letter queue: a message that cannot be used comes again until "
                "the queue forgets it. Give it one, with a maxReceiveCount of 5 at least.",
                stops=False,
            )
        key = attributes.get("KmsMasterKeyId", "")
        if key and not key.endswith("alias/aws/sqs") and source.key_arn is None:
            yield DeploymentProblem(
                f"The queue {source.queue} is encrypted with the key {key}, which the function wake may not use. Write "
                f"the key's ARN into the event source {name}: QueueMessages(…, key_arn=…).",
            )

    def _bucket(self, name: str, bucket: str) -> Iterator[DeploymentProblem]:
        s3, here = self._service("s3"), f"--region {self.place.region}"
        found = unless("NoSuchBucket", s3, "get_bucket_notification_configuration", Bucket=bucket)
        if found is None:
            yield DeploymentProblem(
                f"The event source {name} is for objects of the bucket {bucket}, which does not exist."
            )
            return
        place = s3.call("get_bucket_location", Bucket=bucket)["LocationConstraint"] or "us-east-1"
        if place != self.place.region:
            yield DeploymentProblem(
                f"The bucket {bucket} of the event source {name} is in {place}, and its events stay there: a rule in "
                f"{self.place.region} never sees them. Take a bucket of {self.place.region}, or forward its events."
            )
        if "EventBridgeConfiguration" not in found:
            kept = {each: value for each, value in found.items() if each != "ResponseMetadata"}
            configuration = json.dumps({**kept, "EventBridgeConfiguration": {}})
            yield DeploymentProblem(
                f"The bucket {bucket} does not send its events to EventBridge, so the event source {name} gets none.",
                (
                    f"aws s3api put-bucket-notification-configuration {here} --bucket {bucket} "
                    f"--notification-configuration '{configuration}'",
                ),
                stops=False,
            )

    def _python(self) -> Iterator[DeploymentProblem]:
        wanted, here = (".".join(map(str, each)) for each in (self.environment.python, sys.version_info[:2]))
        if not self.environment.is_local and here != wanted:
            yield DeploymentProblem(
                f"The functions run Python {wanted}, and this command runs {here}: their zips have no bytecode, so "
                f"each cold start compiles what it imports. Deploy with Python {wanted}.",
                stops=False,
            )
