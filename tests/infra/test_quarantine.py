"""In a quarantined environment nothing is invoked and no execution runs; lifted, all is as the environment says."""

from dataclasses import replace
from typing import Any

from infra.deployed.quarantine import Quarantine
from infra.environments import STAGING, Environment


class Functions:
    """Function -> its reserved concurrency."""

    def __init__(self) -> None:
        self.reserved: dict[str, int] = {}

    def put_function_concurrency(self, FunctionName: str, ReservedConcurrentExecutions: int) -> None:  # noqa: N803
        self.reserved[FunctionName] = ReservedConcurrentExecutions

    def delete_function_concurrency(self, FunctionName: str) -> None:  # noqa: N803
        self.reserved.pop(FunctionName, None)

    def get_function_concurrency(self, FunctionName: str) -> dict[str, Any]:  # noqa: N803
        found = self.reserved.get(FunctionName)
        return {} if found is None else {"ReservedConcurrentExecutions": found}


class Executions:
    """Told one by one."""

    def __init__(self, *running: str) -> None:
        self.running = list(running)

    def list_executions(
        self,
        stateMachineArn: str,  # noqa: N803
        statusFilter: str,  # noqa: N803
        nextToken: str = "0",  # noqa: N803
    ) -> dict[str, Any]:
        at = int(nextToken)
        found = {"executions": [{"executionArn": arn} for arn in self.running[at : at + 1]]}
        return found | ({"nextToken": str(at + 1)} if at + 1 < len(self.running) else {})

    def stop_execution(self, executionArn: str) -> None:  # noqa: N803
        self.running.remove(executionArn)


def environment() -> Environment:
    """`step` reserves some."""
    return replace(
        STAGING, sizes={**STAGING.sizes, "step": replace(STAGING.sizes["step"], reserved_concurrency=7)}
    )


def test_nothing_is_invoked_and_nothing_runs() -> None:
    functions, executions = Functions(), Executions("a", "b", "c")
    quarantine = Quarantine(environment(), functions, executions, "machine")
    assert not quarantine.holds

    assert quarantine.begin() == 3

    assert executions.running == []
    working = {f"acta-staging-{name}" for name in environment().functions} - {"acta-staging-fallback"}
    assert functions.reserved == dict.fromkeys(working, 0)
    assert quarantine.holds


def test_an_execution_that_runs_on_is_no_quarantine() -> None:
    functions, executions = Functions(), Executions()
    quarantine = Quarantine(environment(), functions, executions, "machine")
    quarantine.begin()
    executions.running.append("d")
    assert not quarantine.holds
    assert quarantine.begin() == 1


def test_once_it_is_lifted_all_is_as_the_environment_says() -> None:
    functions = Functions()
    quarantine = Quarantine(environment(), functions, Executions(), "machine")
    quarantine.begin()
    quarantine.lift()
    assert functions.reserved == {"acta-staging-step": 7}
    assert not quarantine.holds
