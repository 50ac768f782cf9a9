"""The marker of a session's model calls: one per session, beside its log; nobody overwrites what they have not seen."""

import json

import pytest

from acta.engine.errors import Fenced, PoisonedSession, SchemaUnknown
from acta.engine.log.beside import Attempt, AttemptsChanged, Marker
from acta.engine.log.dynamodb import DynamoAttempts
from acta.engine.store import table_layout as items
from acta.engine.store.schema import CURRENT, NEXT
from acta.engine.store.table_layout import pack, unpack
from tests.stores.backends import SPOILED, Aws, Stores, aws_stores
from tests.stores.documents import NOW, make_commit

pytestmark = pytest.mark.contract


def marker(*ids: str, outcome: str = "", reply: str = "") -> Marker:
    return Marker(attempts=tuple(attempt(one, outcome) for one in ids), reply=reply)


def attempt(attempt_id: str, outcome: str = "") -> Attempt:
    return Attempt(
        attempt_id=attempt_id, key="run_1/1/2/think", run_id="run_1", turn=2, kind="llm", number=0,
        provider="anthropic", model="a-model", started=NOW, input_tokens=1_000, output_tokens=4_096,
        cost_usd=0.043, outcome=outcome,
    )  # fmt: skip


def test_a_session_without_calls_has_no_marker_and_one_that_was_written_is_read_as_it_was(
    stores: Stores, tenant: str
) -> None:
    assert stores.attempts.read(tenant, "ses_1") == Marker()
    stores.attempts.write(tenant, "ses_1", marker("a", reply="Grüße 🪶"), after=None)
    assert stores.other_attempts.read(tenant, "ses_1") == marker("a", reply="Grüße 🪶")
    assert stores.attempts.read(tenant, "ses_2") == Marker()
    assert stores.attempts.read(f"{tenant}-2", "ses_1") == Marker()


def test_what_is_expected_is_replaced_and_anything_else_is_shown_and_stays(
    stores: Stores, tenant: str
) -> None:
    stores.attempts.write(tenant, "ses_1", marker("a"), after=None)
    stores.attempts.write(tenant, "ses_1", marker("b"), after="a")
    for expected in (None, "a", "x"):
        with pytest.raises(AttemptsChanged) as changed:
            stores.other_attempts.write(tenant, "ses_1", marker("c"), after=expected)
        assert changed.value.marker == marker("b")
    assert stores.attempts.read(tenant, "ses_1") == marker("b")
    stores.attempts.write(tenant, "ses_1", marker("b", "c"), after="b")
    assert stores.attempts.read(tenant, "ses_1") == marker("b", "c")


def test_a_write_that_is_repeated_or_adds_an_outcome_meets_itself(stores: Stores, tenant: str) -> None:
    stores.attempts.write(tenant, "ses_1", marker("a"), after=None)
    stores.attempts.write(tenant, "ses_1", marker("a"), after=None)
    stores.attempts.write(tenant, "ses_1", marker("a", outcome="PROVIDER_TIMEOUT"), after="a")
    assert stores.attempts.read(tenant, "ses_1") == marker("a", outcome="PROVIDER_TIMEOUT")


def test_a_marker_that_is_gone_may_be_begun_anew(stores: Stores, tenant: str) -> None:
    """The head names an attempt, and the table was brought back without it."""
    stores.attempts.write(tenant, "ses_1", marker("b"), after="a")
    assert stores.attempts.read(tenant, "ses_1") == marker("b")


def test_the_log_does_not_see_it(stores: Stores, tenant: str) -> None:
    stores.attempts.write(tenant, "ses_1", marker("a"), after=None)
    assert stores.log.latest(tenant, "ses_1") is None
    stores.log.append(make_commit(tenant, "ses_1", 1))
    assert [commit.number for commit in stores.log.read(tenant, "ses_1", 1).commits] == [1]
    newest = stores.log.latest(tenant, "ses_1")
    assert newest is not None
    assert newest.number == 1


def test_it_is_deleted_with_its_session_and_a_late_worker_is_told(stores: Stores, tenant: str) -> None:
    for session_id in ("ses_1", "ses_2", "ses_3"):
        stores.log.append(make_commit(tenant, session_id, 1))
    stores.attempts.write(tenant, "ses_1", marker("a"), after=None)
    stores.attempts.write(tenant, "ses_3", marker("a"), after=None)
    for session_id in ("ses_1", "ses_2"):
        stores.log.delete(tenant, session_id)
        assert stores.attempts.read(tenant, session_id) == Marker()
        for expected in ("a", None):
            with pytest.raises(Fenced):
                stores.attempts.write(tenant, session_id, marker("b"), after=expected)
        stores.log.delete(tenant, session_id)
    assert stores.attempts.read(tenant, "ses_3") == marker("a")


def test_it_is_not_kept_in_the_clear(account: Aws, tenant: str) -> None:
    aws_stores(account).attempts.write(tenant, "ses_1", marker("a", reply="in secret"), after=None)
    assert "secret" not in str(stored(account, tenant))


@pytest.mark.parametrize(
    ("changed", "error"),
    [({"v": {"N": str(NEXT + 1)}}, SchemaUnknown), ({"z": {"B": SPOILED}}, PoisonedSession)],
)
def test_another_release_s_marker_and_a_damaged_one_are_refused(
    account: Aws, tenant: str, changed: items.Item, error: type[Exception]
) -> None:
    attempts = aws_stores(account).attempts
    attempts.write(tenant, "ses_1", marker("a"), after=None)
    account.dynamodb.put_item(TableName=account.table, Item={**stored(account, tenant), **changed})
    with pytest.raises(error):
        attempts.read(tenant, "ses_1")


@pytest.mark.parametrize("version", [CURRENT, NEXT])
def test_a_marker_of_the_next_release_is_read_and_its_new_fields_are_written_back(
    account: Aws, tenant: str, version: int
) -> None:
    attempts = aws_stores(account).attempts
    attempts.write(tenant, "ses_1", marker("a"), after=None)
    body = json.loads(unpack(stored(account, tenant)["z"]["B"]))
    body["queue"] = "later"
    body["attempts"][0]["region"] = "north"
    newer = {"v": {"N": str(version)}, "z": {"B": pack(json.dumps(body).encode())}}
    account.dynamodb.put_item(TableName=account.table, Item={**stored(account, tenant), **newer})

    read = attempts.read(tenant, "ses_1")
    answered = read.attempts[0].model_copy(update={"outcome": "ANSWERED"})
    attempts.write(tenant, "ses_1", read.model_copy(update={"attempts": (answered,)}), after="a")

    assert read.last_id == "a"
    written = json.loads(unpack(stored(account, tenant)["z"]["B"]))
    assert (written["queue"], written["attempts"][0]["region"]) == ("later", "north")


def test_it_is_written_in_the_version_of_the_deployment_s_choice(account: Aws, tenant: str) -> None:
    attempts = DynamoAttempts(account.table, account.dynamodb, write_version=NEXT)
    attempts.write(tenant, "ses_1", marker("a"), after=None)
    assert stored(account, tenant)["v"] == {"N": str(NEXT)}
    assert attempts.read(tenant, "ses_1") == marker("a")


def stored(account: Aws, tenant: str) -> items.Item:
    key = items.attempts_key(tenant, "ses_1")
    item: items.Item = account.dynamodb.get_item(TableName=account.table, Key=key)["Item"]
    return item
