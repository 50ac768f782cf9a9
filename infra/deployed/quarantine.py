"""Stops everything in an environment, and lets it go on: nobody may write while its table is restored (ADR 86).

A function without concurrency is not invoked: the API answers 503, the table's stream and the engine's events wait. An
execution that runs is stopped. A function that was at work at that moment goes on to its end, 15 minutes at most.
"""

from typing import Any

from infra.environments import Environment
from infra.names import function_name
from infra.sizing import FunctionName
from shared.adapters.aws.clients import Service
from shared.adapters.aws.errors import AwsRefused

LONGEST_MINUTES = 15
"""Of a Lambda. Source: AWS Lambda Developer Guide, "Lambda quotas"."""
ABSENT = "ResourceNotFoundException"
OPEN = frozenset[FunctionName]({"fallback"})
"""It answers strangers and uses no store."""


class Quarantine:
    """`lambdas`, `states`: botocore clients of Lambda and Step Functions. `machine`: the state machine's ARN."""

    def __init__(self, environment: Environment, lambdas: Any, states: Any, machine: str) -> None:
        self._environment = environment
        self._lambdas = Service("lambda", lambdas)
        self._states = Service("stepfunctions", states)
        self._machine = machine

    def begin(self) -> int:
        """How many executions were stopped. May be repeated."""
        for name in self._functions:
            self._lambdas.call(
                "put_function_concurrency",
                FunctionName=function_name(self._environment.name, name),
                ReservedConcurrentExecutions=0,
            )
        stopped = 0
        for arn in self._running():
            self._states.call("stop_execution", executionArn=arn)
            stopped += 1
        return stopped

    def lift(self) -> None:
        """Each function has what the environment says again. May be repeated."""
        for name in self._functions:
            function = function_name(self._environment.name, name)
            reserved = self._environment.sizes[name].reserved_concurrency
            if reserved is None:
                self._lambdas.call("delete_function_concurrency", FunctionName=function)
            else:
                self._lambdas.call(
                    "put_function_concurrency",
                    FunctionName=function,
                    ReservedConcurrentExecutions=reserved,
                )

    @property
    def holds(self) -> bool:
        return all(self._reserved(name) == 0 for name in self._functions) and not self._running()

    @property
    def _functions(self) -> tuple[FunctionName, ...]:
        return tuple(name for name in self._environment.functions if name not in OPEN)

    def _reserved(self, name: FunctionName) -> int | None:
        function = function_name(self._environment.name, name)
        try:
            answer = self._lambdas.call("get_function_concurrency", FunctionName=function)
        except AwsRefused as refused:
            if refused.code == ABSENT:
                return None
            raise
        found: int | None = answer.get("ReservedConcurrentExecutions")
        return found

    def _running(self) -> list[str]:
        found: list[str] = []
        more: dict[str, str] = {}
        while True:
            answer = self._states.call(
                "list_executions", stateMachineArn=self._machine, statusFilter="RUNNING", **more
            )
            found += [each["executionArn"] for each in answer["executions"]]
            if "nextToken" not in answer:
                return found
            more = {"nextToken": answer["nextToken"]}
