import pytest

from acta.engine.audit.record import network_of, outcome_of, shortened


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.17", "192.0.2.0/24"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"),
        ("::ffff:192.0.2.17", "192.0.2.0/24"),
        ("", ""),
        ("marker", ""),
    ],
)
def test_an_address_is_kept_as_the_network_it_is_in(address: str, network: str) -> None:
    assert network_of(address) == network


def test_an_outcome_follows_from_the_status() -> None:
    assert [outcome_of(status) for status in (200, 204, 304, 400, 409, 500, 503)] == [
        *["done"] * 3,
        *["refused"] * 2,
        *["failed"] * 2,
    ]


def test_a_long_name_is_cut_and_says_so() -> None:
    assert shortened("a" * 200) == "a" * 200
    assert shortened("a" * 201) == "a" * 199 + "…"
