"""Stops everything in an environment, and lets it go on: nobody may write while its table is restored (ADR 86).

A function without concurrency is not invoked: the API answers with a 5xx, the table's stream and the engine's events
wait. An execution that runs is stopped. A function that was at work at that moment goes on to its end, 15 minutes at
most. So the table keeps since when nothing is invoked, among the deployment's own items, which no restore changes.
"""

from datetime import datetime, timedelta
from typing import Any

from acta.engine.agents.dynamodb import DEPLOYMENT_PK
from acta.engine.aws.clients import Service
from acta.engine.store.table_layout import Item
from acta.infra.deployed.account import pages, reserved_now
from acta.infra.deployed.tenants.stores import TenantStores
from acta.infra.environments import Environment
from acta.infra.names import function_name
from acta.infra.sizing import FunctionName

LONGEST = timedelta(minutes=15)
"""The longest that a Lambda runs. Source: AWS Lambda Developer Guide, "Lambda quotas"."""
LOOKS, PAUSE_SECONDS = 5, 2.0
"""How often AWS is asked whether the quarantine holds, and how many seconds lie between two questions."""
OPEN = frozenset[FunctionName]({"console", "fallback"})
"""Functions that stay at work: they answer anybody and use no store."""
SINCE: Item = {"pk": {"S": DEPLOYMENT_PK}, "sk": {"S": "Q"}}
"""The item with the time since when nothing is invoked, `at`. While the environment is at work there is none."""


class Quarantine:
    """`lambdas`, `states`: botocore clients of Lambda and Step Functions."""

    def __init__(self, environment: Environment, lambdas: Any, states: Any, stores: TenantStores) -> None:
        self._environment = environment
        self._lambdas = Service("lambda", lambdas)
        self._states = Service("stepfunctions", states)
        self._stores = stores

    def begin(self) -> int:
        """Returns how many executions were stopped. May be repeated: the time stays the same if nothing could be
        invoked meanwhile. Some moments later, `nobody_writes_from` can tell from AWS whether the quarantine holds.
        """
        if self._is_still and self._since() is not None:
            return self._stop_all()
        self._forget_since()
        for name in self._functions:
            self._lambdas.call(
                "put_function_concurrency",
                FunctionName=function_name(self._environment.name, name),
                ReservedConcurrentExecutions=0,
            )
        self._stores.put_item({**SINCE, "at": {"S": self._stores.clock.now().isoformat()}})
        return self._stop_all()

    def lift(self) -> bool:
        """Gives the functions their concurrency back. May be repeated. False: there was no quarantine."""
        if self._since() is None and not any(self._reserved(name) == 0 for name in self._functions):
            return False
        self._forget_since()
        for name in self._functions:
            function = function_name(self._environment.name, name)
            reserved = self._environment.reserved(name)
            if reserved is None:
                self._lambdas.call("delete_function_concurrency", FunctionName=function)
            else:
                self._lambdas.call(
                    "put_function_concurrency", FunctionName=function, ReservedConcurrentExecutions=reserved
                )
        return True

    def _stop_all(self) -> int:
        """Stops all executions, up to LOOKS times more: AWS may still list one that was just stopped."""
        stopped = self._stop_executions()
        for _ in range(LOOKS):
            if self.nobody_writes_from() is not None:
                break
            self._stores.clock.back_off(PAUSE_SECONDS)
            stopped += self._stop_executions()
        return stopped

    def nobody_writes_from(self) -> datetime | None:
        """When the last function will have ended. None: the environment is at work, or its stop was not recorded."""
        since = self._since()
        if since is None or not self._is_still or self._running():
            return None
        return since + LONGEST

    @property
    def _is_still(self) -> bool:
        return all(self._reserved(name) == 0 for name in self._functions)

    @property
    def _functions(self) -> tuple[FunctionName, ...]:
        return tuple(name for name in self._environment.functions if name not in OPEN)

    def _reserved(self, name: FunctionName) -> int | None:
        return reserved_now(self._lambdas, function_name(self._environment.name, name))

    def _since(self) -> datetime | None:
        item = self._stores.item(SINCE)
        return None if item is None else datetime.fromisoformat(item["at"]["S"])

    def _forget_since(self) -> None:
        self._stores.table.call("delete_item", TableName=self._stores.names.table, Key=SINCE)

    def _stop_executions(self) -> int:
        running = self._running()
        for arn in running:
            self._states.call("stop_execution", executionArn=arn)
        return len(running)

    def _running(self) -> list[str]:
        running = {"stateMachineArn": self._stores.names.state_machine, "statusFilter": "RUNNING"}
        listed = pages(self._states, "list_executions", "nextToken", **running)
        return [each["executionArn"] for page in listed for each in page["executions"]]
