"""Pseudonyms tell people apart and tell nobody who they are."""

import pytest

from acta.engine.audit.trail import KeyedPseudonyms
from acta.engine.aws.secrets import SecretUnreadable
from acta.engine.errors import AwsDenied, StoreUnavailable

pytestmark = pytest.mark.contract


class Keys:
    """Secrets Manager with one secret. `asked`: how often it was read."""

    def __init__(self, key: str | Exception) -> None:
        self.key = key
        self.asked: list[str] = []

    def __call__(self, name: str) -> str:
        self.asked.append(name)
        if isinstance(self.key, Exception):
            raise self.key
        return self.key


def test_the_same_person_has_one_name_in_a_tenant_and_another_elsewhere() -> None:
    people = KeyedPseudonyms("acta/prod/audit", secrets=Keys("k"))
    ann = people.of("acme", "ann")
    assert ann == KeyedPseudonyms("acta/prod/audit", secrets=Keys("k")).of("acme", "ann")
    others = {people.of("acme", "bob"), people.of("other", "ann"), people.of("acm", "eann")}
    assert len({ann, *others}) == 4


def test_without_the_key_nobody_makes_the_name() -> None:
    one, other = (KeyedPseudonyms("s", secrets=Keys(key)).of("acme", "ann") for key in ("k", "l"))
    assert one != other
    assert "ann" not in one


def test_a_process_reads_the_key_once_and_only_when_it_needs_it() -> None:
    keys = Keys("k")
    people = KeyedPseudonyms("acta/prod/audit", secrets=keys)
    assert keys.asked == []
    people.of("acme", "ann")
    people.of("acme", "bob")
    assert keys.asked == ["acta/prod/audit"]


@pytest.mark.parametrize("key", ["", SecretUnreadable("InvalidRequestException")])
def test_a_key_that_was_destroyed_names_nobody(key: str | Exception) -> None:
    keys = Keys(key)
    people = KeyedPseudonyms("acta/prod/audit", secrets=keys)
    with pytest.raises(StoreUnavailable):
        people.of("acme", "ann")
    keys.key = "new"
    assert people.of("acme", "ann")


def test_a_key_that_may_not_be_read_is_the_operators_to_see_to() -> None:
    with pytest.raises(AwsDenied):
        KeyedPseudonyms("acta/prod/audit", secrets=Keys(AwsDenied("x"))).of("acme", "ann")


def test_only_a_local_stack_has_a_key_that_is_no_secret() -> None:
    assert KeyedPseudonyms("", "local").of("acme", "ann")
    with pytest.raises(StoreUnavailable):
        KeyedPseudonyms("").of("acme", "ann")
    secret = KeyedPseudonyms("acta/prod/audit", "local", secrets=Keys("k")).of("acme", "ann")
    assert secret != KeyedPseudonyms("", "local").of("acme", "ann")
