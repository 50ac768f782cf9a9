"""In a quarantined environment nothing is invoked and no execution runs; lifted, all is as the environment says."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from acta.cli.exit_codes import CliError
from acta.cli.operations.stored import check_still, later_lines, restored_to, stopped_lines
from acta.infra.deployed.invoke_recovery import ALL_SESSIONS, RecoveryFailed, run_recovery
from acta.infra.deployed.quarantine import Quarantine
from acta.infra.deployed.tenants.stores import Names, TenantStores
from acta.infra.environments import STAGING, Environment
from acta.testing.clock import FakeClock

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


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


class Items:
    """A table's, by their sort keys."""

    def __init__(self) -> None:
        self.items: dict[str, Any] = {}

    def put_item(self, TableName: str, Item: Any) -> dict[str, Any]:  # noqa: N803
        self.items[Item["sk"]["S"]] = Item
        return {}

    def delete_item(self, TableName: str, Key: Any) -> dict[str, Any]:  # noqa: N803
        self.items.pop(Key["sk"]["S"], None)
        return {}

    def get_item(self, TableName: str, Key: Any, ConsistentRead: bool) -> dict[str, Any]:  # noqa: N803
        found = self.items.get(Key["sk"]["S"])
        return {} if found is None else {"Item": found}


class Stopped:
    """An environment with its functions, executions and table."""

    def __init__(self, *running: str) -> None:
        self.functions, self.executions, self.clock = Functions(), Executions(*running), FakeClock(NOON)
        names = Names("staging", "table", "bucket", "sessions", "audit", "machine")
        self.stores = TenantStores(names, Items(), None, self.clock)
        self.quarantine = Quarantine(environment(), self.functions, self.executions, self.stores)


def environment() -> Environment:
    """`step` reserves some."""
    return replace(STAGING, reserved_concurrency={"step": 7})


def test_nothing_is_invoked_and_nothing_runs() -> None:
    stopped = Stopped("a", "b", "c")
    assert stopped.quarantine.nobody_writes_from() is None

    assert stopped.quarantine.begin() == 3

    assert stopped.executions.running == []
    working = {f"acta-staging-{name}" for name in environment().functions} - {
        "acta-staging-console",
        "acta-staging-fallback",
    }
    assert stopped.functions.reserved == dict.fromkeys(working, 0)
    assert stopped.quarantine.nobody_writes_from() == NOON + timedelta(minutes=15)


def test_an_execution_that_runs_on_is_no_quarantine() -> None:
    stopped = Stopped()
    stopped.quarantine.begin()
    stopped.executions.running.append("d")
    assert stopped.quarantine.nobody_writes_from() is None
    assert stopped.quarantine.begin() == 1


def test_what_aws_lists_a_moment_longer_is_looked_at_again() -> None:
    class Late(Executions):
        """One that begins while the others are stopped."""

        def stop_execution(self, executionArn: str) -> None:  # noqa: N803
            super().stop_execution(executionArn)
            if executionArn == "a":
                self.running.append("b")

    stopped = Stopped("a")
    stopped.executions = Late("a")
    quarantine = Quarantine(environment(), stopped.functions, stopped.executions, stopped.stores)
    assert quarantine.begin() == 2
    assert quarantine.nobody_writes_from() is not None


def test_where_aws_does_not_say_that_it_holds_it_is_not_said() -> None:
    class Deaf(Functions):
        def put_function_concurrency(self, FunctionName: str, ReservedConcurrentExecutions: int) -> None:  # noqa: N803
            """Answers, and does nothing."""

    stopped = Stopped()
    quarantine = Quarantine(environment(), Deaf(), stopped.executions, stopped.stores)
    quiet = (quarantine.begin(), quarantine.nobody_writes_from())[1]
    (said,) = stopped_lines("staging", 0, quiet, "acta quarantine --env staging ")
    assert "does not stand still" in said
    assert "Run acta quarantine --env staging again" in said


def test_who_stops_it_is_told_that_it_holds_until_when_to_wait_and_what_still_works() -> None:
    said = "\n".join(stopped_lines("staging", 2, NOON, "acta quarantine --env staging "))
    for words in ("stands still, and AWS says so", "before 12:00:00 UTC", "/healthz", "--env staging --lift"):
        assert words in said


def test_who_restores_is_told_what_is_lost_and_that_more_may_be() -> None:
    *named, closing = later_lines(("acme/ses_1",))
    assert named == ["acme/ses_1 began after that time, and is lost"]
    assert "lost: 1. Not among them" in closing


def test_once_it_is_lifted_all_is_as_the_environment_says() -> None:
    stopped = Stopped()
    stopped.quarantine.begin()
    assert stopped.quarantine.lift()
    assert stopped.functions.reserved == {"acta-staging-step": 7}
    assert stopped.quarantine.nobody_writes_from() is None


def test_said_once_more_the_time_begins_anew_only_where_something_was_invoked_meanwhile() -> None:
    stopped = Stopped()
    stopped.quarantine.begin()
    stopped.clock.advance(600)
    stopped.quarantine.begin()
    assert stopped.quarantine.nobody_writes_from() == NOON + timedelta(minutes=15)

    stopped.functions.delete_function_concurrency("acta-staging-tool")
    assert stopped.quarantine.nobody_writes_from() is None
    stopped.quarantine.begin()
    assert stopped.quarantine.nobody_writes_from() == NOON + timedelta(minutes=25)


def test_no_table_is_restored_while_a_function_may_be_at_work() -> None:
    stopped = Stopped()
    with pytest.raises(CliError, match="stop it with acta quarantine --env staging first"):
        check_still(stopped.quarantine, NOON, "acta quarantine --env staging ")
    stopped.quarantine.begin()
    with pytest.raises(CliError, match=r"until 12:15:00 UTC: run the same command again"):
        check_still(stopped.quarantine, NOON + timedelta(minutes=14, seconds=59), "acta quarantine")
    check_still(stopped.quarantine, NOON + timedelta(minutes=15), "acta quarantine")


def test_what_was_not_stopped_is_left_as_it_is_and_said_so() -> None:
    stopped = Stopped()
    stopped.functions.reserved["acta-staging-tool"] = 3
    assert not stopped.quarantine.lift()
    assert stopped.functions.reserved == {"acta-staging-tool": 3}

    stopped.functions.reserved["acta-staging-tool"] = 0  # it was cut short
    assert stopped.quarantine.lift()
    assert stopped.functions.reserved == {"acta-staging-step": 7}


class NothingDeployed:
    """AWS has neither the table nor the function."""

    def describe_table(self, TableName: str) -> None:  # noqa: N803
        raise ClientError({"Error": {"Code": "ResourceNotFoundException"}}, "DescribeTable")

    def invoke(self, **_: Any) -> None:
        raise ClientError({"Error": {"Code": "ResourceNotFoundException"}}, "Invoke")


def test_a_table_that_is_not_there_is_named_with_what_to_do() -> None:
    with pytest.raises(CliError, match=r"^there is no table nope .*--from names the one that AWS restored"):
        restored_to(NothingDeployed(), "nope", None)


def test_a_recovery_that_is_not_deployed_is_named_with_what_to_do() -> None:
    with pytest.raises(
        RecoveryFailed, match=r"^there is no function acta-dev-recover .*: deploy dev, or name another"
    ):
        run_recovery(NothingDeployed(), "dev", ALL_SESSIONS)
