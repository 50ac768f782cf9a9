"""Where everything is measured: the deployed stack on the local AWS, a counting proxy before it, a scripted model."""

import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Self, get_args

import httpx

from acta.engine.aws.clients import make_client
from acta.engine.clock import SystemClock
from acta.engine.files.s3 import S3FileStore
from acta.engine.log.dynamodb import DynamoLog
from acta.engine.log.repository import SessionRepository
from acta.engine.log.s3 import S3Blobs
from acta.engine.models.providers import ANTHROPIC
from acta.engine.settings import Settings
from acta.infra.local.deploy import DeployProgress
from acta.infra.local.issuer import Role
from acta.infra.local.stack import LocalStack
from acta.infra.sizing import FunctionName
from acta.local_aws.credentials import Credentials
from acta.local_aws.loopback import free_port
from tests.bench.stand.provider import ScriptedProvider
from tests.bench.stand.proxy import CountingProxy
from tests.bench.stand.script import Reply

TENANT, USER = "bench", "ann"
GOAL = (
    "Read all field notes in my storage and write a report on what they say about deliveries, with figures."
)
FUNCTIONS: tuple[str, ...] = get_args(FunctionName)
UNBOUNDED = {"ACTA_CAP_TOKEN_BUDGET": "100000000"}
ENDLESS = {
    "ACTA_MODELS": json.dumps({"anthropic": {ANTHROPIC.default_model: {"window": 100_000_000}}}),
    "ACTA_CONTEXT_TOKENS": "100000000",
    "ACTA_TENANT_TOKENS_PER_HOUR": "0",
}
"""Nothing is summarised: every turn sends all before it. No hour is limited: a long walk is one tenant's. The
launcher's variables would win over a function's own.
"""
RUN_SECONDS = 300.0
RUNTIME = {
    "AWS_REGION": "us-east-1",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
}


class RunFailed(RuntimeError):
    """A session did not do the work it was to be measured at; the message says what went wrong."""


class Stand:
    """Lambdas reach AWS through `proxy` and the model at `provider`; this process asks the emulator itself."""

    def __init__(
        self,
        progress: DeployProgress,
        *,
        provider: Callable[[], ScriptedProvider] = ScriptedProvider,
        through_proxy: bool = True,
        variables: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.scratch = tempfile.TemporaryDirectory(prefix="acta-bench-")
        port = free_port()
        self.proxy = CountingProxy(port)
        self.provider = provider()
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("ACTA_", "AWS_", "ANTHROPIC_", "OPENAI_"))
        }
        self.lambda_environ = {
            "ACTA_PROVIDER": "anthropic",
            "ANTHROPIC_API_KEY": "scripted",
            "ANTHROPIC_BASE_URL": self.provider.url,
        } | UNBOUNDED
        self.environ = {
            **kept,
            **self.lambda_environ,
            **variables,
            "ACTA_AWS_PORT": str(port),
            "NO_PROXY": "127.0.0.1,localhost",
        }
        if through_proxy:
            self.environ["ACTA_LAMBDA_AWS_ENDPOINT_URL"] = self.proxy.url
        self.stack = LocalStack(Path(self.scratch.name) / "state", environ=self.environ, progress=progress)

    def __enter__(self) -> Self:
        try:
            self.stack.start()
            self._without_a_schedule()
            self._without_usage()
            self._configure("step", {**self.function("step"), **ENDLESS})
            self.settings = self.function("step")
            self.machine = self.client("stepfunctions").list_state_machines()["stateMachines"][0][
                "stateMachineArn"
            ]
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        self.stack.stop()
        self.proxy.stop()
        self.provider.stop()
        self.scratch.cleanup()

    def _without_a_schedule(self) -> None:
        """What happens each minute would be counted among whatever is measured just then."""
        events = self.client("events")
        for rule in events.list_rules()["Rules"]:
            events.disable_rule(Name=rule["Name"])

    def _without_usage(self) -> None:
        """It counts what was committed at a time of its own, which would be among whatever is measured just then."""
        functions = self.client("lambda")
        for each in functions.list_event_source_mappings()["EventSourceMappings"]:
            if ":acta-local-usage" in each["FunctionArn"]:
                functions.update_event_source_mapping(UUID=each["UUID"], Enabled=False)

    def client(self, service: str, *, counted: bool = False) -> Any:
        """Of this process; `counted`: by way of the proxy."""
        return make_client(
            service,
            region_name=RUNTIME["AWS_REGION"],
            **self.stack.credentials.as_arguments(),
            endpoint_url=self.proxy.url if counted else self.stack.aws_endpoint_url,
        )

    def function(self, name: str) -> Mapping[str, str]:
        """The environment variables its template gives the function."""
        configuration = self.client("lambda").get_function_configuration(FunctionName=f"acta-local-{name}")
        variables: Mapping[str, str] = configuration["Environment"]["Variables"]
        return variables

    def role_of(self, name: str) -> Mapping[str, str]:
        """Variables with credentials of the function's own role, which the operator may assume from then on."""
        arn = self.client("lambda").get_function_configuration(FunctionName=f"acta-local-{name}")["Role"]
        role, iam = arn.rpartition("/")[2], self.client("iam")
        trust = iam.get_role(RoleName=role)["Role"]["AssumeRolePolicyDocument"]
        operator = {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"AWS": arn.split(":")[4]}}
        trust["Statement"] = [*trust["Statement"], operator]
        iam.update_assume_role_policy(RoleName=role, PolicyDocument=json.dumps(trust))
        given = self.client("sts").assume_role(RoleArn=arn, RoleSessionName=f"acta-local-{name}")[
            "Credentials"
        ]
        keys = given["AccessKeyId"], given["SecretAccessKey"], given["SessionToken"]
        return Credentials(*keys).as_variables()

    @contextmanager
    def configured(self, functions: Sequence[str], **variables: str) -> Iterator[None]:
        """The functions with these variables as well; as before afterwards."""
        before = {name: self.function(name) for name in functions}
        for name in functions:
            self._configure(name, {**before[name], **variables})
        try:
            yield
        finally:
            for name in functions:
                self._configure(name, before[name])

    def _configure(self, name: str, variables: Mapping[str, str]) -> None:
        self.client("lambda").update_function_configuration(
            FunctionName=f"acta-local-{name}", Environment={"Variables": dict(variables)}
        )

    def token(self, role: Role) -> str:
        return self.stack.issuer.issue_token(TENANT, USER, role)

    @contextmanager
    def admin(self) -> Iterator[httpx.Client]:
        """The API, with an admin's token."""
        headers = {"Authorization": f"Bearer {self.token('admin')}"}
        with httpx.Client(base_url=self.stack.url, headers=headers, timeout=60, trust_env=False) as client:
            yield client

    def repository(self, *, counted: bool = False) -> SessionRepository:
        """A new one, as in a worker that has just started."""
        clock = SystemClock()
        chosen = Settings.from_environ(self.settings)
        log = DynamoLog(chosen.table, clock, self.client("dynamodb", counted=counted))
        blobs = S3Blobs(chosen.session_bucket, self.client("s3", counted=counted))
        return SessionRepository(log, blobs, clock)

    def put_files(self, files: Mapping[str, str], tenant: str = TENANT) -> None:
        store = S3FileStore(self.settings["ACTA_BUCKET"], self.client("s3"))
        for path, text in files.items():
            store.write(tenant, path, text.encode())

    def run(self, replies: list[Reply], **play: Any) -> list[str]:
        """Starts a session over HTTP and waits for its end; the ARNs of its executions in order. Raises RunFailed."""
        self.provider.play(replies, **play)
        self.proxy.take()
        body = {"content": GOAL, "max_steps": len(replies) + 10, "token_budget": 100_000_000}
        headers = {"Authorization": f"Bearer {self.token('member')}"}
        answer = httpx.post(
            f"{self.stack.url}/v1/sessions", json=body, headers=headers, timeout=60, trust_env=False
        )
        if answer.status_code != 202:
            raise RunFailed(f"the session did not start: {answer.status_code}")
        session = answer.json()["data"]
        name = f"{session['session_id']}-{session['run']['run_id']}"
        arns, deadline = [self._execution(name, 1)], time.monotonic() + RUN_SECONDS
        while (status := self._status(arns[-1])) == "RUNNING" or self._status(
            self._execution(name, len(arns) + 1)
        ):
            if status != "RUNNING":  # a long run goes on in the next execution
                arns.append(self._execution(name, len(arns) + 1))
            if time.monotonic() > deadline:
                raise RunFailed(
                    f"the run was not over after {RUN_SECONDS:.0f} s: {self._where(session['session_id'])}"
                )
            time.sleep(0.1)
        self.check_script_is_over()
        return arns

    def check_script_is_over(self) -> None:
        """Raises RunFailed where a request did not follow from the script, or the run has ended before it."""
        told = self.provider
        if told.problems or not told.is_at_end:
            raise RunFailed(
                "; ".join(told.problems[:3])
                or f"the run ended after {len(told.sent)} of {told.replies} replies"
            )

    def _where(self, session_id: str) -> str:
        """The session's state and what it waits for, without a word of its content."""
        head = self.repository().newest(TENANT, session_id).head
        outage = "" if head.delay is None else f", {head.delay.code}"
        asked = f"{len(self.provider.sent)} of {self.provider.replies} replies"
        return f"{head.state}, {head.state_reason}{outage}, event {head.last_seq}, after {asked}"

    def _execution(self, name: str, generation: int) -> str:
        return f"{self.machine.replace(':stateMachine:', ':execution:')}:{name}-{generation}"

    def _status(self, arn: str) -> str | None:
        """None: there is no such execution."""
        states = self.client("stepfunctions")
        try:
            return str(states.describe_execution(executionArn=arn)["status"])
        except states.exceptions.ExecutionDoesNotExist:
            return None


def data_of(answer: httpx.Response) -> Any:
    """Raises RunFailed unless it was answered with success."""
    if not answer.is_success:
        raise RunFailed(f"{answer.request.method} {answer.request.url.path}: {answer.status_code}")
    return answer.json()["data"]
