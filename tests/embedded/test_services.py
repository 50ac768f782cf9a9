"""Queues, secrets and functions of one process, asked as AWS is asked."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from acta.embedded.database import Database
from acta.embedded.services import FunctionFailed, Functions, Queues, StoredSecrets
from acta.engine.aws.errors import AwsRefused
from acta.engine.tools.lambda_function import LambdaToolFunction
from acta.engine.tools.secret_reader import ToolSecretReader, ToolSecretStore


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    made = Database(tmp_path / "acta.db")
    yield made
    made.close()


def test_a_message_comes_again_until_it_is_taken_away(database: Database) -> None:
    queues = Queues(database, again_seconds=0.0, kept_seconds=60.0)
    queues.send_message(QueueUrl="notify", MessageBody="{}", DelaySeconds=0, MessageGroupId="g")
    assert queues.sent.is_set()
    first, again = queues.receive(10), queues.receive(10)
    assert [each.queue for each in first] == ["notify"]
    received = [each.record["attributes"]["ApproximateReceiveCount"] for each in first + again]
    assert received == ["1", "2"]
    queues.take_away(first[0])
    assert queues.receive(10) == []


def test_a_message_waits_for_its_time_and_is_given_up_in_the_end(database: Database) -> None:
    queues = Queues(database, again_seconds=60.0, kept_seconds=60.0)
    queues.send_message(QueueUrl="notify", MessageBody="{}", DelaySeconds=60)
    queues.send_message(QueueUrl="notify", MessageBody="[]")
    assert [each.record["body"] for each in queues.receive(10)] == ["[]"]
    assert queues.receive(10) == [], "the next attempt is a minute away"
    assert Queues(database, again_seconds=0.0, kept_seconds=-1.0).receive(10) == []
    assert Queues(database, again_seconds=0.0, kept_seconds=60.0).receive(10) == []


def test_a_secret_is_set_read_replaced_and_deleted(database: Database) -> None:
    secrets = StoredSecrets(database)
    store = ToolSecretStore("local", client=secrets)
    store.put("acme", "KEY", "value-of-the-key")
    store.put("acme", "KEY", "another-value")
    assert ToolSecretReader("local", secrets)("acme", "KEY") == "another-value"
    assert ToolSecretReader("local", secrets)("globex", "KEY") is None
    store.delete("acme", "KEY")
    store.delete("acme", "KEY")
    assert ToolSecretReader("local", secrets)("acme", "KEY") is None


def made(function: Any) -> Functions:
    return Functions({"tool": function}, lambda name, event: None, lambda name, environment, event: None)


def test_a_function_answers_and_what_it_raises_is_told_as_lambda_tells_it() -> None:
    answers = made(lambda event: {"answer": {"given": event["given"]}})
    asked = LambdaToolFunction("tool:live", lambda: answers).ask("try_tool", "acme", "ann", {"a": 1})
    assert asked == {"given": {"a": 1}}

    def fails(event: dict[str, Any]) -> dict[str, Any]:
        raise FunctionFailed("Runtime.ExitError")

    told = made(fails).invoke(FunctionName="tool", InvocationType="RequestResponse", Payload=b"{}")
    assert told["FunctionError"] == "Unhandled"
    assert json.loads(told["Payload"].read())["errorType"] == "Runtime.ExitError"


def test_a_function_that_is_not_there_is_not_found() -> None:
    asked = {"FunctionName": "acta-local-tool-x", "InvocationType": "RequestResponse", "Payload": b"{}"}
    with pytest.raises(AwsRefused) as refused:
        made(lambda event: {}).invoke(**asked)
    assert refused.value.code == "ResourceNotFoundException"
