"""The deployed stack on the local AWS with the fault point between its Lambdas and everything they ask."""

import os
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from acta.engine.aws.clients import make_client
from acta.engine.clock import SystemClock
from acta.engine.log.dynamodb import DynamoLog
from acta.engine.log.head import Head
from acta.engine.log.repository import SessionRepository
from acta.engine.log.s3 import S3Blobs
from acta.engine.settings import Settings
from acta.engine.usage.dynamodb import DynamoUsage
from acta.infra.local.deploy import DeployProgress, Silent
from acta.infra.local.stack import LocalStack
from acta.local_aws.emulator_process import REGION
from acta.local_aws.loopback import free_port
from tests.doubles.otlp import PATH, Spans
from tests.e2e.support.behind import parking_after
from tests.e2e.support.deployments import neutral_environ, prepare
from tests.faults.calls import AWS, LAMBDA, MODEL, OTLP, SINK, Answer, Request
from tests.faults.ledger import Ledger
from tests.faults.point import FaultPoint
from tests.faults.processes import kill_all
from tests.faults.provider import Provider
from tests.faults.server import FaultyServer
from tests.faults.upstream import Upstream

TEND_ATTEMPTS = 5


class Stand:
    """Lambdas reach AWS, the model and the tools' service by way of `point`; this process asks the emulator itself.

    `cap`: the most turns that an invocation of `step` makes. `model`: what answers as the provider. `invocations`: the
    engine's come by `point` as well. `traces`: spans are exported, to `spans`. `parks`: what waits for people is parked
    after a second, and nobody decides before.
    """

    has_python_tools = False
    """Tools that are deployed with the stack; else each run registers its own."""

    def __init__(
        self,
        progress: DeployProgress | None = None,
        model: Callable[[Request], Answer] | None = None,
        *,
        cap: int = 1,
        invocations: bool = False,
        traces: bool = False,
        parks: bool = False,
        **settings: str,
    ) -> None:
        self._scratch = tempfile.TemporaryDirectory(prefix="acta-faults-")
        port = free_port()
        self.point = FaultPoint()
        self.ledger = Ledger()
        self.spans = Spans()
        self.traces = traces
        self.parks = parks
        self._servers = [
            aws := FaultyServer(AWS, self.point, Upstream(port)),
            provider := FaultyServer(MODEL, self.point, model or Provider()),
            sink := FaultyServer(SINK, self.point, self.ledger),
            otlp := FaultyServer(OTLP, self.point, self._take_spans),
            engine := FaultyServer(LAMBDA, self.point, lambda request: Answer(204, {}, b"")),
        ]
        self.tools_url = sink.url
        self._otlp_url = f"{otlp.url}{PATH}"
        environ = {
            **neutral_environ(),
            "ACTA_AWS_PORT": str(port),
            "ACTA_LAMBDA_AWS_ENDPOINT_URL": aws.url,
            "ACTA_PROVIDER": "anthropic",
            "ANTHROPIC_API_KEY": "scripted",
            "ANTHROPIC_BASE_URL": provider.url,
            "ACTA_HTTP_TOOL_ALLOW": sink.host,
            "NO_PROXY": "127.0.0.1,localhost",
            "ACTA_TURNS_PER_STEP": str(cap),
            "ACTA_RECOVERY_GRACE_SECONDS": "3600",  # by its own clock it leaves everything alone
            "ACTA_AWS_LONGEST_PAUSE_SECONDS": "0.5",
            **({"ACTA_AWS_INVOCATION_CHECK_URL": f"{engine.url}/"} if invocations else {}),
            **settings,
        }
        state = Path(self._scratch.name) / "state"
        prepare(state, environ)
        self.stack = LocalStack(state, environ=environ, progress=progress or Silent())

    def __enter__(self) -> Self:
        try:
            self.stack.start()
            assert self.stack.emulator is not None
            self.point.parent = self.stack.emulator.pid
            settings = self.function("step")
            self.machine = self.function("start")["ACTA_STATE_MACHINE_ARN"]
            self.set_up()
            if self.traces:
                self._export()
            if self.parks:
                self._park()
        except BaseException:
            self.stop()
            raise
        clock = SystemClock()
        self.log = DynamoLog(settings["ACTA_TABLE"], clock, self.client("dynamodb"))
        blobs = S3Blobs(Settings.from_environ(settings).session_bucket, self.client("s3"))
        self.repository = SessionRepository(self.log, blobs, clock)
        self.states = self.client("stepfunctions")
        self.usage = DynamoUsage(settings["ACTA_TABLE"], clock, self.client("dynamodb"))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _take_spans(self, request: Request) -> Answer:
        answered = self.spans.take(request.path, request.headers, request.body)
        return Answer(answered.status, {"Content-Type": "application/x-protobuf"}, answered.body)

    def _park(self) -> None:
        """As in an environment that parks so soon, without a deployment of its own."""
        states = self.client("stepfunctions")
        deployed = states.describe_state_machine(stateMachineArn=self.machine)["definition"]
        states.update_state_machine(stateMachineArn=self.machine, definition=parking_after(1, deployed))

    def _export(self) -> None:
        """As in a stack that names an endpoint from the start."""
        lambdas = self.client("lambda")
        queue = self.function("traces")["ACTA_TRACES_QUEUE_URL"]
        for name, more in (
            ("traces", {"ACTA_TRACES_URL": self._otlp_url}),
            ("usage", {"ACTA_TRACES_QUEUE_URL": queue}),
        ):
            variables = {**self.function(name), **more}
            lambdas.update_function_configuration(
                FunctionName=f"acta-local-{name}", Environment={"Variables": variables}
            )
        (mapping,) = lambdas.list_event_source_mappings(FunctionName="acta-local-traces")[
            "EventSourceMappings"
        ]
        lambdas.update_event_source_mapping(UUID=mapping["UUID"], Enabled=True)

    def set_up(self) -> None:
        """What a stand has beyond the deployment, before anything runs."""

    def stop(self) -> None:
        """Nothing of it is kept, so nothing has to be saved."""
        self.point.release()
        if self.stack.emulator is not None:
            self.stack.emulator.kill()
        self.stack.stop()
        for server in self._servers:
            server.stop()
        self._scratch.cleanup()

    def files(self, tenant: str) -> tuple[tuple[str, int], ...]:
        """Asked of the emulator itself."""
        prefix = f"files/{tenant}/"
        found = self.client("s3").list_objects_v2(Bucket=self.function("step")["ACTA_BUCKET"], Prefix=prefix)
        return tuple((one["Key"].removeprefix(prefix), one["Size"]) for one in found.get("Contents", ()))

    def client(self, service: str) -> Any:
        return make_client(
            service,
            read_seconds=60,
            region_name=REGION,
            **self.stack.credentials.as_arguments(),
            endpoint_url=self.stack.aws_endpoint_url,
        )

    def function(self, name: str) -> Mapping[str, str]:
        """The environment variables its template gives the function."""
        found = self.client("lambda").get_function_configuration(FunctionName=f"acta-local-{name}")
        variables: Mapping[str, str] = found["Environment"]["Variables"]
        return variables

    def sweep(self) -> None:
        """Recovery looks at everything, again where it dies itself."""
        for _ in range(TEND_ATTEMPTS):
            answer = self.client("lambda").invoke(
                FunctionName="acta-local-recover", Payload=b'{"repair": true}'
            )
            answer["Payload"].read()
            if "FunctionError" not in answer:
                return
        raise AssertionError("recovery does not answer")

    def cool(self, *functions: str) -> None:
        """The next invocations of these functions begin with new processes. While no run is on."""
        assert self.point.parent is not None
        kill_all(functions, self.point.parent)

    def execution_of(self, head: Head) -> str:
        """The ARN of the one that has the session."""
        assert head.run is not None
        name = f"{head.session_id}-{head.run.run_id}-{head.run.generation}"
        return f"{self.machine.replace(':stateMachine:', ':execution:')}:{name}"

    @contextmanager
    def configured(self, name: str, **variables: str) -> Iterator[None]:
        """The function with these variables as well; as before afterwards."""
        lambdas, before = self.client("lambda"), self.function(name)

        def configure(chosen: Mapping[str, str]) -> None:
            lambdas.update_function_configuration(
                FunctionName=f"acta-local-{name}", Environment={"Variables": dict(chosen)}
            )

        configure({**before, **variables})
        try:
            yield
        finally:
            configure(before)

    @contextmanager
    def time_limit(self, function: str, *, seconds: int) -> Iterator[None]:
        """The function's processes have no longer than this for an invocation; as before afterwards."""
        lambdas, name = self.client("lambda"), f"acta-local-{function}"
        before = lambdas.get_function_configuration(FunctionName=name)["Timeout"]
        lambdas.update_function_configuration(FunctionName=name, Timeout=seconds)
        try:
            yield
        finally:
            lambdas.update_function_configuration(FunctionName=name, Timeout=before)


def new_tag() -> str:
    """Of a run: its tenant's name, see `calls.RUN_TAG`."""
    return f"flt-{uuid.uuid4().hex[:12]}"


def is_supported() -> bool:
    """Whether processes can be told by their connections here."""
    return Path("/proc/net/tcp").exists() and hasattr(os, "pidfd_open")
