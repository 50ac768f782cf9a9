"""Transactions that meet others: tried again while it can help, and told apart from conditions that failed."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from acta.engine.agents.dynamodb import DynamoDefinitions
from acta.engine.aws.clients import Service
from acta.engine.aws.errors import AwsRefused
from acta.engine.errors import StoreThrottled
from acta.engine.memories.dynamodb import DynamoMemories
from acta.engine.prompts.prompt import AGENT_PLANNING_SYSTEM
from acta.engine.store.dynamodb import ATTEMPTS, ConditionFailed, transact
from acta.testing.clock import FakeClock
from tests.stores.backends import Aws, aws_stores

pytestmark = pytest.mark.contract


class Answering:
    """A DynamoDB client that refuses as many transactions as it has reasons for, then takes one."""

    def __init__(self, *refusals: Exception) -> None:
        self.refusals = list(refusals)
        self.taken = 0

    def transact_write_items(self, **_: Any) -> None:
        if self.refusals:
            raise self.refusals.pop(0)
        self.taken += 1


def cancelled(*reasons: str, code: str = "TransactionCanceledException") -> ClientError:
    return ClientError(
        {
            "Error": {"Code": code, "Message": "m"},
            "ResponseMetadata": {"HTTPStatusCode": 400},
            "CancellationReasons": [{"Code": reason} for reason in reasons],
        },
        "TransactWriteItems",
    )


CONFLICT = cancelled("None", "TransactionConflict")


def test_a_transaction_that_met_another_is_tried_again_after_growing_pauses() -> None:
    client, clock = Answering(CONFLICT, cancelled(code="TransactionInProgressException")), FakeClock()
    transact(Service("dynamodb", client), clock, [{}])
    assert client.taken == 1
    assert clock.pauses == [0.05, 0.1]


def test_who_is_always_in_the_way_is_left_to_the_caller_s_retry() -> None:
    client = Answering(*[CONFLICT] * ATTEMPTS)
    with pytest.raises(StoreThrottled):
        transact(Service("dynamodb", client), FakeClock(), [{}])
    assert client.taken == 0


def test_failed_conditions_are_reported_by_their_places_and_not_tried_again() -> None:
    client = Answering(cancelled("ConditionalCheckFailed", "TransactionConflict", "ConditionalCheckFailed"))
    with pytest.raises(ConditionFailed) as failed:
        transact(Service("dynamodb", client), FakeClock(), [{}, {}, {}])
    assert failed.value.failed == {0, 2}


def test_any_other_refusal_is_a_mistake_of_ours() -> None:
    with pytest.raises(AwsRefused):
        transact(Service("dynamodb", Answering(cancelled("ValidationError"))), FakeClock(), [{}])


class Counting:
    """A DynamoDB client that writes down what it was asked for."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        self.asked.append(name)
        return getattr(self._client, name)


def test_a_warm_turn_costs_one_small_read_for_agents_and_prompts_together(aws: Aws, tenant: str) -> None:
    client = Counting(aws.dynamodb)
    definitions = DynamoDefinitions(aws.table, FakeClock(), client)
    for _ in range(3):
        client.asked.clear()
        turn = definitions.snapshot(tenant)
        turn.agent("default")
        turn.prompt(AGENT_PLANNING_SYSTEM)
    assert client.asked == ["get_item"]


def test_a_warm_worker_looks_for_memories_at_the_price_of_one_small_read(aws: Aws, tenant: str) -> None:
    client, stores = Counting(aws.dynamodb), aws_stores(aws)
    memories = DynamoMemories(aws.table, stores.clock, client)
    for _ in range(2):
        client.asked.clear()
        memories.relevant(tenant, "a", "ann", "anything", 5, 100)
    assert client.asked == ["get_item"]
