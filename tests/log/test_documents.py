"""Stored documents: exact, compact, cheap to read and write, and refused where not understood."""

import time
import zlib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from acta.engine.agents.dynamodb import to_agent, to_prompt, to_tool
from acta.engine.errors import PoisonedSession, SchemaUnknown
from acta.engine.log.beside import load_entry, read_compacted
from acta.engine.log.commit import Commit
from acta.engine.log.conversation import AssistantEntry, Content
from acta.engine.memories.dynamodb import to_memory
from acta.engine.people.intervention import Intervention
from acta.engine.store.schema import CURRENT, NEXT, to_json
from acta.engine.store.table_layout import (
    BY_CHECKSUM,
    from_commit,
    from_intervention,
    item_commit,
    load_json,
    pack,
    to_commit,
    to_intervention,
    unpack,
)
from tests.stores.documents import full_commit, largest_commit, make_commit, make_intervention
from tests.stores.strategies import documents

pytestmark = pytest.mark.contract

EXAMPLES = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
BILLED_BYTES = 400 * 1_024


@pytest.mark.parametrize("levels", [100, 150, 180, 190, 195, 200, 240, 249])
def test_what_could_not_be_read_again_is_refused_before_it_is_stored(levels: int) -> None:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    question = make_intervention("ses_1", "int_1").model_copy(update={"context": {"value": value}})
    try:
        written = to_json(question, CURRENT)
    except PoisonedSession:
        assert levels > 190
    else:
        assert Intervention.model_validate_json(written) == question
        assert levels < 200


def test_half_of_a_surrogate_pair_is_refused_before_it_is_stored() -> None:
    with pytest.raises(PoisonedSession):
        to_json(
            make_intervention("ses_1", "int_1").model_copy(update={"context": {"question": "\ud800"}}),
            CURRENT,
        )


@EXAMPLES
@given(documents(Commit))
def test_any_commit_comes_back_exactly(commit: Commit) -> None:
    assert to_commit(CURRENT, from_commit(commit)) == commit


@EXAMPLES
@given(documents(Intervention))
def test_any_intervention_comes_back_exactly(intervention: Intervention) -> None:
    assert to_intervention(CURRENT, from_intervention(intervention, CURRENT)) == intervention


def test_a_commit_with_a_seven_step_plan_stays_small_and_the_largest_stays_storable() -> None:
    assert len(from_commit(full_commit("t", "ses_1", 1))) < 2_048
    largest = len(from_commit(largest_commit("t", "ses_1")))
    print(f"\nlargest commit: {largest:,} bytes of {BILLED_BYTES:,}")
    assert largest < BILLED_BYTES * 3 / 4


def test_every_dictionary_ever_used_is_still_the_one_it_was() -> None:
    """Stored commits name it by this checksum: add a new one, never edit an old one."""
    assert set(BY_CHECKSUM) == {1_811_849_959}


def test_a_document_of_an_unknown_version_or_dictionary_is_refused_without_quoting_it() -> None:
    stored = from_commit(make_commit("secret-tenant", "ses_1", 1))
    foreign = zlib.compressobj(zdict=b"another dictionary")
    newer_head = unpack(stored).replace(b'"head":{"version":1', b'"head":{"version":3')
    next_head = unpack(stored).replace(b'"head":{"version":1', b'"head":{"version":2')
    new_state = next_head.replace(b'"state":"idle"', b'"state":"secret"')
    bad: list[Callable[[], object]] = [
        lambda: to_commit(NEXT + 1, stored),
        lambda: to_commit(0, stored),
        lambda: to_commit(CURRENT, foreign.compress(b"x" * 99) + foreign.flush()),
        lambda: to_commit(CURRENT, pack(newer_head)),
        lambda: to_commit(CURRENT, pack(new_state)),
        lambda: to_commit(NEXT, pack(new_state)),
        lambda: to_commit(NEXT, pack(b'{"secret": 1}')),
        lambda: to_intervention(NEXT, stored),
        lambda: to_agent(NEXT + 1, stored),
        lambda: to_agent(NEXT, stored),
        lambda: read_compacted('{"version": 4, "text": "secret"}'),
        lambda: read_compacted('{"version": 3, "text": "secret"}'),
    ]
    for read in bad:
        with pytest.raises(SchemaUnknown) as raised:
            read()
        assert "secret" not in str(raised.value)


def test_a_damaged_document_of_a_known_version_poisons_its_session_alone_and_is_not_quoted() -> None:
    stored = from_commit(make_commit("secret-tenant", "ses_1", 1))
    no_commit = pack(b'{"version": 1, "text": "secret"}')
    entry = AssistantEntry(message_id="m", content=Content.of(""), private=Content(blob="b", bytes=9))
    bad: list[Callable[[], object]] = [
        lambda: to_commit(CURRENT, stored[:-9]),
        lambda: to_commit(CURRENT, stored + b"secret"),
        lambda: to_commit(CURRENT, b"no zlib, a secret"),
        lambda: to_commit(CURRENT, b""),
        lambda: to_commit(CURRENT, no_commit),
        lambda: to_commit(CURRENT, pack(b'{"secret')),
        lambda: to_commit(CURRENT, pack(b"\xff secret")),
        lambda: to_intervention(1, no_commit),
        lambda: to_agent(1, no_commit),
        lambda: to_prompt(1, no_commit),
        lambda: to_tool(1, no_commit),
        lambda: to_memory(1, no_commit),
        lambda: load_json("record", pack(b"secret")),
        lambda: read_compacted('{"version": 1, "text": "secret"}'),
        lambda: read_compacted("secret"),
        lambda: load_entry(entry, {"b": "secret"}),
        lambda: item_commit({"z": {"B": stored}}),
        lambda: item_commit({"z": {"S": "secret"}, "v": {"N": "1"}}),
    ]
    for read in bad:
        with pytest.raises(PoisonedSession) as raised:
            read()
        assert "secret" not in str(raised.value)


@pytest.mark.parametrize("place", range(0, 900, 7))
def test_a_commit_with_any_byte_changed_is_never_misread(place: int) -> None:
    commit = full_commit("t", "ses_1", 1)
    stored = bytearray(from_commit(commit))
    place %= len(stored)
    stored[place] ^= 0x55
    with pytest.raises((PoisonedSession, SchemaUnknown)):
        to_commit(CURRENT, bytes(stored))


def test_a_document_compressed_without_a_dictionary_is_read() -> None:
    commit = full_commit("t", "ses_1", 1)
    assert to_commit(CURRENT, zlib.compress(commit.model_dump_json().encode())) == commit


def test_encoding_and_decoding_cost_is_shown() -> None:
    commit = full_commit("acme", "ses_01J00000000000000000000000", 9)
    stored = from_commit(commit)
    rounds = 200
    began = time.process_time()
    for _ in range(rounds):
        from_commit(commit)
    middle = time.process_time()
    for _ in range(rounds):
        to_commit(CURRENT, stored)
    ended = time.process_time()
    print(
        f"\ncommit with a 7-step plan: {len(stored):,} bytes; "
        f"encode {(middle - began) / rounds * 1e6:.0f} µs, "
        f"decode {(ended - middle) / rounds * 1e6:.0f} µs of CPU"
    )
    assert to_commit(CURRENT, stored) == commit
