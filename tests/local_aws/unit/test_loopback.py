"""What tells a program of this machine from a web page."""

import pytest

from acta.local_aws.loopback import is_for_loopback, is_from_a_page


@pytest.mark.parametrize("host", ["127.0.0.1:4566", "localhost:4566", "LocalHost:4566", "[::1]:4566"])
def test_a_loopback_name_with_the_right_port_is_ours(host: str) -> None:
    assert is_for_loopback([("Host", host)], {4566})
    assert is_for_loopback([("hOsT", f" {host} ")])


@pytest.mark.parametrize(
    "host",
    [
        "evil.example:4566", "127.0.0.1.evil.example:4566", "localhost.evil.example", "localhost@evil.example:4566",
        "127.0.0.1:4567", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:4566, evil.example:4566", "::1:4566",
        "127.0.0.1:04566:1", "127.0.0.1:٤٥٦٦", "0.0.0.0:4566", "",
    ],
)  # fmt: skip
def test_any_other_host_is_foreign(host: str) -> None:
    assert not is_for_loopback([("Host", host)], {4566})


def test_one_host_is_needed_and_a_second_one_is_one_too_many() -> None:
    assert not is_for_loopback([], {80})
    assert not is_for_loopback([("Host", "127.0.0.1:80"), ("host", "127.0.0.1:80")], {80})
    assert is_for_loopback([("Host", "localhost")], {80})


@pytest.mark.parametrize(
    "header",
    [
        ("Origin", "https://evil.example"), ("origin", "null"), ("Origin", "http://127.0.0.1:4566"), ("Origin", ""),
        ("Sec-Fetch-Site", "cross-site"), ("sec-fetch-site", "same-site"), ("Sec-Fetch-Site", "same-origin"),
    ],
)  # fmt: skip
def test_a_request_with_an_origin_or_from_a_site_is_a_pages(header: tuple[str, str]) -> None:
    assert is_from_a_page([("Host", "127.0.0.1"), header])


def test_a_program_and_an_address_somebody_typed_are_no_page() -> None:
    assert not is_from_a_page([("Host", "127.0.0.1"), ("User-Agent", "aws-cli")])
    assert not is_from_a_page([("Sec-Fetch-Site", "none"), ("Sec-Fetch-Mode", "navigate")])
