"""Keys made of other people's strings."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acta.engine.store.keys import (
    MAX_PART_BYTES,
    MAX_TENANT_BYTES,
    from_cursor,
    key_part,
    part_text,
    tenant_part,
    tenant_pk,
    tenant_prefix,
    to_cursor,
)

pytestmark = pytest.mark.contract

NAMES = (
    st.text(max_size=8)
    | st.text("#/%.S~a2Ee-", min_size=1, max_size=8)
    | st.text("é#", min_size=30, max_size=90)
)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(NAMES.filter(bool), NAMES.filter(bool))
def test_different_names_give_different_parts_without_separators(one: str, other: str) -> None:
    parts = key_part(one), key_part(other)
    assert (parts[0] == parts[1]) == (one == other)
    for part in parts:
        assert part.isascii()
        assert 0 < len(part) <= MAX_PART_BYTES
        assert not {"#", "/", "\\", "\0"} & set(part)
        assert not part.startswith(".")


@settings(max_examples=300, deadline=None, derandomize=True)
@given(NAMES.filter(bool))
def test_a_part_gives_its_text_back_unless_that_is_too_long(name: str) -> None:
    part = key_part(name)
    assert part_text(part) == (None if part.startswith("%sha256-") else name)


def test_our_own_ids_and_plain_names_are_their_own_parts() -> None:
    for name in ("ses_01J00000000000000000000000", "acme", "acme-2.example"):
        assert key_part(name) == name


@pytest.mark.parametrize("name", ["%2Ea", ".a", "%sha256-0", "a" * 201, "é" * 34])
def test_names_that_look_like_encoded_ones_do_not_meet_them(name: str) -> None:
    assert key_part(name) != name
    assert key_part(key_part(name)) != key_part(name)


@pytest.mark.parametrize("over", ["", "t", "@"])
def test_a_tenant_s_part_is_hashed_early_and_the_same_in_every_key(over: str) -> None:
    tenant = "t" * MAX_TENANT_BYTES + over
    part = tenant_part(tenant)
    assert (part == tenant, part.startswith("%sha256-")) == (not over, bool(over))
    assert (tenant_pk(tenant), tenant_prefix("files", tenant)) == (f"T#{part}", f"files/{part}/")


def test_an_empty_name_is_nobody_s() -> None:
    with pytest.raises(ValueError, match="tenant"):
        key_part("")


@settings(max_examples=200, deadline=None, derandomize=True)
@given(NAMES, NAMES, NAMES)
def test_a_cursor_opens_in_its_own_listing_only(scope: str, other: str, position: str) -> None:
    cursor = to_cursor(scope, position)
    assert from_cursor(scope, cursor) == position
    if scope != other:
        with pytest.raises(ValueError, match="cursor"):
            from_cursor(other, cursor)
