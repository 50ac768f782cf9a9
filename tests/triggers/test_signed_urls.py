"""URLs of programs: made here, for one purpose, and accepted without reading anything but the key."""

import pytest

from acta.engine.errors import NotFound, StoreUnavailable
from acta.engine.signed_urls import Signed, SignedUrls


def urls(*keys: str) -> SignedUrls:
    return SignedUrls("https://api.test", lambda: "\n".join(keys))


def test_a_url_says_whose_and_what_it_is_for_and_is_always_the_same() -> None:
    made = urls("one").url("hooks", "acme", "orders")
    assert made == urls("one").url("hooks", "acme", "orders")
    assert made.startswith("https://api.test/v1/hooks/")
    token = made.rpartition("/")[2]
    assert urls("one").verify("hooks", token) == Signed("acme", ("orders",))


@pytest.mark.parametrize("tenant", ["acme", "ü/#", "a" * 300])
def test_any_tenant_and_any_ids_come_back(tenant: str) -> None:
    token = urls("one").sign("callbacks", tenant, "ses_1", "call_2")
    assert urls("one").verify("callbacks", token) == Signed(tenant, ("ses_1", "call_2"))


def test_what_was_not_made_here_for_this_purpose_is_not_found() -> None:
    token = urls("one").sign("hooks", "acme", "orders")
    said, _, mac = token.partition(".")
    other = urls("one").sign("hooks", "other", "orders")
    for wrong in (
        "", ".", said, f"{said}.", f".{mac}", f"{token}A", f"{other.partition('.')[0]}.{mac}", f"{said}.{mac[:-2]}",
        "ü.ü", token + "." + mac, "A" * 3_000, urls("two").sign("hooks", "acme", "orders"),
    ):  # fmt: skip
        with pytest.raises(NotFound):
            urls("one").verify("hooks", wrong)
    with pytest.raises(NotFound):
        urls("one").verify("callbacks", token)


def test_a_key_is_replaced_without_breaking_the_urls_that_are_in_use() -> None:
    token = urls("old").sign("hooks", "acme", "orders")
    both = urls("new", "old")
    assert both.verify("hooks", token).tenant == "acme"
    assert both.sign("hooks", "acme", "orders") == urls("new").sign("hooks", "acme", "orders") != token
    with pytest.raises(NotFound):
        urls("new").verify("hooks", token)


def test_without_a_key_nothing_is_signed_and_nothing_is_accepted() -> None:
    token = urls("one").sign("hooks", "acme", "orders")
    with pytest.raises(StoreUnavailable):
        urls().sign("hooks", "acme", "orders")
    with pytest.raises(StoreUnavailable):
        urls().verify("hooks", token)
