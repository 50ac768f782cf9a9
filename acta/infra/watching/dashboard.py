"""One page of graphs for each environment. It reads from left to right, and then down, as the loop does: requests,
sessions started, planning, turns, waiting for people, sessions ended by reason. Below: costs, and what slows sessions.

Every widget's title says what is counted and in which unit, over five minutes.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from aws_cdk import Duration
from aws_cdk import aws_apigatewayv2 as apigw
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sqs as sqs
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from acta.engine.recovery.store import ROUNDS
from acta.infra.environments import Environment
from acta.infra.names import ALIAS, function_name, metrics_namespace
from acta.infra.sizing import FunctionName

PERIOD = Duration.minutes(5)
COLUMNS = 24
"""The width of a page in CloudWatch's columns."""
HEIGHT = 6
Functions = Mapping[FunctionName, lambda_.IFunction]


class Graph(NamedTuple):
    title: str
    metrics: Sequence[cloudwatch.IMetric]
    stacked: bool = False


class Dashboard(Construct):
    """Named `acta-<env>`."""

    def __init__(
        self,
        scope: Construct,
        environment: Environment,
        functions: Functions,
        state_machine: sfn.IStateMachine,
        http_api: apigw.IHttpApi,
        notify_queue: sqs.IQueue | None,
    ) -> None:
        super().__init__(scope, "Dashboard")
        self._namespace = metrics_namespace(environment.name)
        self._api_id = http_api.api_id
        page = cloudwatch.Dashboard(self, "Page", dashboard_name=f"acta-{environment.name}")
        page.add_widgets(_heading("From left to right: what comes in, what is worked on, how it ends"))
        page.add_widgets(*_row(self._loop(functions)))
        page.add_widgets(*_row(self._ends()))
        page.add_widgets(_heading("What it costs, and what is in the way"))
        page.add_widgets(*_row(self._money()))
        page.add_widgets(*_row(self._trouble(functions, state_machine, notify_queue)))

    def _loop(self, functions: Functions) -> Sequence[Graph]:
        step = functions["step"]
        return (
            _graph(
                "Requests to the API (requests)",
                self._gateway("Count", "all"),
                self._gateway("4xx", "refused (4xx)"),
                self._gateway("5xx", "failed (5xx)"),
            ),
            _graph("Runs started (runs)", self._metric("RunsStarted", "started")),
            _graph(
                "Plans (plans)",
                self._metric("PlansCreated", "created"),
                self._metric("PlansCompleted", "completed"),
            ),
            _graph(
                "Turns: one model call each, most of the time (milliseconds)",
                step.metric_duration(period=PERIOD, statistic="p50", label="half are faster"),
                step.metric_duration(period=PERIOD, statistic="p95", label="95 of 100 are faster"),
            ),
            _graph(
                "Tool calls (calls)",
                self._metric("ToolCalls", "all"),
                self._metric("ToolsFailed", "with an error as their result"),
            ),
            _graph(
                "Questions to people (questions)",
                self._metric("QuestionsAsked", "asked"),
                self._metric("QuestionsClosed", "decided, expired or withdrawn"),
            ),
        )

    def _ends(self) -> Sequence[Graph]:
        return (
            _graph("Runs that ended, by how (runs)", self._each("RunsEnded", "end", "Sum"), stacked=True),
            _graph(
                "From the start of a run to its end (seconds)",
                self._metric("RunSeconds", "half are faster", "p50"),
                self._metric("RunSeconds", "95 of 100 are faster", "p95"),
            ),
            _graph(
                "Turns of a finished run (turns, on average)", self._metric("RunTurns", "turns", "Average")
            ),
            _graph(
                "Sessions that recovery went on with, and that it cannot help (sessions)",
                self._metric("SessionsRecovered", "went on by recovery"),
                self._metric("SessionsStuck", "stand still", "Maximum"),
            ),
            _graph(
                "Rounds of recovery that came to their end (rounds)",
                *(self._metric("RecoveryRounds", round, round=round) for round in ROUNDS),
            ),
            _graph(
                "Sessions in a provider's line, by provider (sessions, at least)",
                self._each("SessionsInLine", "provider", "Maximum"),
            ),
        )

    def _money(self) -> Sequence[Graph]:
        return (
            _graph("Cost of model calls with a known price (US dollars)", self._metric("CostUsd", "dollars")),
            _graph("Tokens, in and out (tokens)", self._metric("Tokens", "tokens")),
            _graph("Calls of models (calls)", self._metric("ModelCalls", "calls")),
            _graph(
                "Work of the engine that failed (invocations)",
                self._metric("Failures", "failed"),
                self._metric("Retries", "of these tried again"),
                self._metric("ProviderErrors", "of these because of a model's provider"),
            ),
        )

    def _trouble(
        self, functions: Functions, state_machine: sfn.IStateMachine, notify_queue: sqs.IQueue | None
    ) -> Sequence[Graph]:
        usage = functions["usage"].function_name
        behind = self._metric(
            "IteratorAge",
            "oldest commit that is not counted",
            "Maximum",
            "AWS/Lambda",
            FunctionName=usage,
            Resource=f"{usage}:{ALIAS}",
        )
        undelivered = []
        if notify_queue is not None:
            waiting = notify_queue.metric_approximate_number_of_messages_not_visible(
                period=PERIOD, label="waiting"
            )
            undelivered = [_graph("Notifications that nobody has taken yet (notifications)", waiting)]
        return (
            _graph(
                "Errors that functions raised (errors)",
                *(each.metric_errors(period=PERIOD, label=name) for name, each in functions.items()),
            ),
            _graph(
                "Calls that Lambda had no room for (calls)",
                *(each.metric_throttles(period=PERIOD, label=name) for name, each in functions.items()),
            ),
            _graph(
                "Executions of the state machine (executions)",
                state_machine.metric_started(period=PERIOD, label="started"),
                state_machine.metric_failed(period=PERIOD, label="failed"),
                state_machine.metric_throttled(period=PERIOD, label="throttled"),
            ),
            _graph("How far usage is behind the sessions (milliseconds)", behind),
            _graph(
                "How full packed session policies are (percent)",
                self._metric("PackedPolicySize", "the fullest", "Maximum"),
            ),
            *undelivered,
        )

    def _metric(
        self, metric: str, label: str, statistic: str = "Sum", namespace: str = "", **dimensions: str
    ) -> cloudwatch.Metric:
        """`namespace` empty: a metric of the functions themselves (`acta/engine/telemetry.py`)."""
        return cloudwatch.Metric(
            namespace=namespace or self._namespace,
            metric_name=metric,
            dimensions_map=dimensions,
            statistic=statistic,
            period=PERIOD,
            label=label,
        )

    def _gateway(self, metric: str, label: str) -> cloudwatch.Metric:
        return self._metric(metric, label, namespace="AWS/ApiGateway", ApiId=self._api_id)

    def _each(self, metric: str, dimension: str, statistic: str) -> cloudwatch.MathExpression:
        """A line for each value of the dimension."""
        # Quoted because an environment's name may have a hyphen: CloudWatch user guide, "search expression syntax".
        schema = f'{{"{self._namespace}",{dimension}}}'
        return cloudwatch.MathExpression(
            expression=f"SEARCH('{schema} MetricName=\"{metric}\"', '{statistic}', 300)",
            label="",
            using_metrics={},
            period=PERIOD,
        )


def _heading(text: str) -> cloudwatch.TextWidget:
    return cloudwatch.TextWidget(markdown=f"## {text}", width=COLUMNS, height=1)


def _row(graphs: Sequence[Graph]) -> Sequence[cloudwatch.GraphWidget]:
    """The graphs side by side, over the whole width."""
    return [
        cloudwatch.GraphWidget(
            title=graph.title,
            left=list(graph.metrics),
            left_y_axis=cloudwatch.YAxisProps(min=0, show_units=False),
            width=COLUMNS // len(graphs),
            height=HEIGHT,
            stacked=graph.stacked,
            period=PERIOD,
        )
        for graph in graphs
    ]


def _graph(title: str, *metrics: cloudwatch.IMetric, stacked: bool = False) -> Graph:
    return Graph(title, metrics, stacked)


QUERIES: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "a session's story": (
            'filter session_id = "ses_01…"',
            "sort @timestamp asc",
            "display @timestamp, service, message, op, turn, status, error",
        ),
        "runs by how they ended, with what they cost": (
            'filter message = "run finished"',
            "stats count() as runs, sum(tokens) as tokens, sum(cost_usd) as usd, avg(seconds) as seconds by end",
            "sort runs desc",
        ),
        "which tenants' runs fail, and why": (
            'filter message = "run finished" and state = "failed"',
            "stats count() by tenant_hash, code",
        ),
        "what the engine had to try again": (
            'filter message = "failed"',
            "stats count() by error, service, bin(5m)",
        ),
        "refusals, by route and code": (
            'filter message = "answered" and status >= 400',
            "stats count() by route, status, code",
        ),
    }
)
"""Name -> its steps. Questions for Logs Insights, also in `docs/operations.md`."""


def save_queries(scope: Construct, environment: Environment) -> None:
    """Saves the questions as `Acta/<env>/…`, for the logs of all functions."""
    groups = [f"/aws/lambda/{function_name(environment.name, each)}" for each in environment.functions]
    for number, (name, steps) in enumerate(QUERIES.items(), start=1):
        logs.CfnQueryDefinition(
            scope,
            f"Query{number}",
            name=f"Acta/{environment.name}/{name}",
            log_group_names=groups,
            query_string="\n| ".join(steps),
        )
