"""What DynamoDB removes by itself (`ttl`): nothing that a session, an agent or a memory needs
(docs/design/log.md 38)."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from moto import mock_aws

from acta.engine.log.commit import Commit
from acta.engine.log.store import TOMBSTONE_LIFE, IndexEntry
from acta.engine.people.intervention import Intervention
from acta.engine.settings import Settings
from acta.engine.store import table_layout as items
from acta.engine.store.schema import CURRENT
from acta.infra.sizing import LOCAL_SIZES, SIZES
from acta.testing.clock import FakeClock
from tests.fixtures.house import StoredHouse
from tests.fixtures.stored import items_in
from tests.fixtures.write import SHAPES, amid_calls
from tests.in_process.scripted import ScriptedModel
from tests.stores.backends import Aws, moto_aws
from tests.stores.documents import NOW, record_for
from tests.stores.strategies import documents

pytestmark = pytest.mark.contract

EXAMPLES = settings(max_examples=20, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
LONGEST_LAMBDA = timedelta(minutes=15)
NAMES = st.text(min_size=1, max_size=30)


@pytest.fixture
def aws() -> Iterator[Aws]:
    with mock_aws():
        yield moto_aws()


def is_short_lived(item: items.Item) -> bool:
    """An answer to a repeated request, an hour's grants, the text of a turn that still runs, or the bare key that a
    deleted session's commit or marker leaves.
    """
    kind = item["sk"]["S"]
    return (
        kind.startswith(("K#", "L#"))
        or kind == "P"
        or ((kind.startswith("C#") or kind == "A") and item.keys() == {"pk", "sk", "ttl"})
    )


@pytest.mark.parametrize("name", SHAPES)
def test_of_all_that_a_session_and_its_agent_write_only_what_is_short_lived_ends_by_itself(
    name: str, aws: Aws
) -> None:
    SHAPES[name](aws)
    written = items_in(aws)
    kinds = {item["sk"]["S"].split("#")[0] for item in written if "ttl" not in item}
    assert kinds >= {"A", "C", "F", "H", "M", "P", "R", "S", "V"}
    ending = [item for item in written if "ttl" in item]
    assert ending
    assert all(map(is_short_lived, ending))
    assert not [item for item in ending if item["sk"]["S"].startswith("C#")]


def test_a_deleted_session_s_keys_outlive_every_worker_it_may_have_had(aws: Aws) -> None:
    shape = amid_calls(aws)
    house = StoredHouse(ScriptedModel([]), aws)
    house.delete(shape.session_id)
    left = [item for item in items_in(aws) if shape.session_id in item["pk"]["S"] and "ttl" in item]
    assert left
    assert all(map(is_short_lived, left))
    soonest = min(int(item["ttl"]["N"]) for item in left)
    assert soonest - house.clock.now().timestamp() >= LONGEST_LAMBDA.total_seconds()
    assert TOMBSTONE_LIFE > LONGEST_LAMBDA


def test_of_a_deleted_session_only_the_note_of_its_erasure_has_no_end_of_its_own(aws: Aws) -> None:
    shape = amid_calls(aws)
    house = StoredHouse(ScriptedModel([]), aws)
    house.delete(shape.session_id)
    left = [item for item in items_in(aws) if shape.session_id in str(item) and "ttl" not in item]
    assert [(item["sk"]["S"], item.keys() - {"pk", "sk"}) for item in left] == [("E", {"live", "live_at"})]


def test_a_deleted_session_is_erased_again_when_no_worker_lives_that_saw_it() -> None:
    longest = max(size.timeout for size in (*SIZES.values(), *LOCAL_SIZES.values()))
    after = Settings(env="t", table="t", bucket="b").erase_again_seconds
    assert after > LONGEST_LAMBDA.total_seconds()
    assert LONGEST_LAMBDA.total_seconds() >= longest


@EXAMPLES
@given(documents(Commit), documents(Intervention), NAMES)
def test_no_document_of_a_session_ever_ends_by_itself_whatever_is_in_it(
    commit: Commit, intervention: Intervention, tenant: str
) -> None:
    named = commit.model_copy(
        update={"head": commit.head.model_copy(update={"tenant": "t", "session_id": "s"})}
    )
    entry = IndexEntry(tenant, "s", commit.head.agent_id, commit.head.coarse_state)
    for item in (
        items.commit_item(named, ["i"]),
        items.intervention_item(tenant, intervention.model_copy(update={"intervention_id": "i"}), CURRENT),
        items.listing_item(entry),
    ):
        assert "ttl" not in item


@EXAMPLES
@given(st.integers(min_value=0, max_value=1_000_000))
def test_an_hour_s_grants_outlive_their_hour(hour: int) -> None:
    assert items.hour_ttl(hour) >= (hour + 2) * 3_600


def test_a_key_lives_as_long_as_it_was_promised() -> None:
    record = record_for(FakeClock(NOW), "t")
    assert int(items.record_item(record)["ttl"]["N"]) >= (NOW + timedelta(hours=24)).timestamp()
