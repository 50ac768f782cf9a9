"""Where tools of kind `http` may go: judged by the address that is dialled, whatever the URL looks like."""

from collections.abc import Sequence

import pytest

from acta.engine.egress.address import AddressGuard, AddressRefused, is_public
from acta.engine.settings import Settings, SettingsError

PUBLIC = "93.184.216.34"


def settings(hosts: str = "", allow: str = "") -> Settings:
    return Settings(
        env="local", is_local=True, table="t", bucket="b", http_tool_hosts=hosts, http_tool_allow=allow
    )


class Names:
    """Answers each look-up of a host with the next of its answers; the last one stays."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, int]] = []

    def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append((host, port))
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.8.8.8", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254",
        "169.254.170.2", "100.64.0.1", "0.0.0.0", "0.1.2.3", "192.0.0.1", "192.0.2.1", "198.18.0.1", "198.51.100.1",
        "203.0.113.1", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255", "192.88.99.1",
        "::", "::1", "fc00::1", "fd00:ec2::254", "fdff::1", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1",
        "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:7f00:1", "::127.0.0.1",
        "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2002:7f00:1::", "2002:a9fe:a9fe::1",
        "192.0.0.9", "192.0.0.10", "192.31.196.1", "192.52.193.1", "192.175.48.1", "168.63.129.16",
        "3fff::1", "2001:4:112::1", "2001:20::1", "2620:4f:8000::1", "::ffff:168.63.129.16",
        "2606:2800:220:1:0:5efe:10.0.0.1", "2606:2800:220:1:200:5efe:169.254.169.254",
        "2001::1", "2001:db8::1", "100::1", "", "localhost", "127.1", "2130706433", "0x7f000001",
    ],
)  # fmt: skip
def test_an_address_inside_is_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        PUBLIC,
        "8.8.8.8",
        "::ffff:8.8.8.8",
        "2606:2800:220:1::1",
        "2606:2800:220:1:0:5efe:8.8.8.8",
        "2001:200::1",
    ],
)
def test_an_address_of_the_open_internet_is(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "2130706433", "0177.0.0.1", "0x7f.1", "127.1", "[::1]", "[::ffff:7f00:1]"]
)
def test_no_spelling_of_a_private_address_gets_through_even_where_it_is_listed(host: str) -> None:
    with pytest.raises((AddressRefused, OSError)):
        AddressGuard(settings(hosts=host)).resolve(f"https://{host}/")


def test_the_address_that_was_looked_up_is_the_one_to_dial() -> None:
    names = Names([PUBLIC], ["127.0.0.1"])
    guard = AddressGuard(settings(hosts="api.example.com"), names)
    target = guard.resolve("https://API.example.com/pay?x=1")
    assert (target.ip, target.host, target.port, target.path) == (PUBLIC, "api.example.com", 443, "/pay?x=1")
    assert names.asked == [("api.example.com", 443)]
    with pytest.raises(AddressRefused):  # the name has been bound to another address meanwhile
        guard.resolve("https://api.example.com/pay")


def test_one_private_address_among_public_ones_is_enough_to_refuse() -> None:
    with pytest.raises(AddressRefused) as refused:
        AddressGuard(settings(hosts="a.example"), Names([PUBLIC, "10.1.2.3"])).resolve("https://a.example/")
    assert "10.1.2.3" not in str(refused.value)


@pytest.mark.parametrize(
    "url",
    [
        "http://a.example/", "https://b.example/", "https://x.a.example/", "https://a.example.b.example/",
        "https://a.example:8443/", "ftp://a.example/", "https://", "https:///x", "a.example", "",
        "https://user@a.example/", "https://b.example@a.example/", "https://a.example@b.example/",
        "https://a.example/#x", "https://a.example\\@b.example/", "https://a.example/ x", "https://a.example/\r\nX: y",
        "https://ａ.example/", "https://a.example:99999/", "https://a.example:x/", "file:///etc/passwd",
    ],
)  # fmt: skip
def test_a_url_that_is_not_exactly_an_allowed_one_is_refused(url: str) -> None:
    with pytest.raises(AddressRefused):
        AddressGuard(settings(hosts="a.example"), Names([PUBLIC])).check(url)


@pytest.mark.parametrize(
    ("env", "url", "named"),
    [
        ("prod", "https://b.example/", ["http_tool_hosts"]),
        ("prod", "http://127.0.0.1:8000/", []),
        ("local", "https://b.example/", ["ACTA_HTTP_TOOL_HOSTS", "ACTA_HTTP_TOOL_ALLOW"]),
        ("local", "http://127.0.0.1:8000/", ["ACTA_HTTP_TOOL_ALLOW"]),
        ("local", "ftp://127.0.0.1:8000/", []),
    ],
)
def test_a_refusal_says_which_setting_helps_beside_what_a_model_is_told(
    env: str, url: str, named: list[str]
) -> None:
    here = Settings(env=env, is_local=env == "local", table="t", bucket="b", http_tool_hosts="a.example")
    with pytest.raises(AddressRefused) as refused:
        AddressGuard(here).check(url)
    settings = ("http_tool_hosts", "ACTA_HTTP_TOOL_HOSTS", "ACTA_HTTP_TOOL_ALLOW")
    assert [name for name in settings if name in refused.value.remedy] == named
    assert not [name for name in settings if name in str(refused.value)]
    assert refused.value.explained == f"{refused.value}. {refused.value.remedy}".strip()


def test_without_a_list_no_host_is_allowed() -> None:
    with pytest.raises(AddressRefused):
        AddressGuard(settings(), Names([PUBLIC])).check("https://a.example/")


def test_a_port_is_allowed_by_name_only() -> None:
    guard = AddressGuard(settings(hosts="a.example:8443"), Names([PUBLIC]))
    assert guard.check("https://a.example:8443/").port == 8443
    with pytest.raises(AddressRefused):
        guard.check("https://a.example/")


def test_an_exception_is_for_one_host_and_port() -> None:
    guard = AddressGuard(settings(allow="127.0.0.1:8080, [::1]:8081"))
    assert guard.resolve("http://127.0.0.1:8080/x").ip == "127.0.0.1"
    assert guard.resolve("http://[::1]:8081/x").ip == "::1"
    for url in ("http://127.0.0.1:8082/", "https://127.0.0.1/", "http://localhost:8080/"):
        with pytest.raises(AddressRefused):
            guard.resolve(url)


def test_the_exception_is_refused_outside_of_a_local_aws() -> None:
    given = {"ACTA_TABLE": "t", "ACTA_BUCKET": "b", "ACTA_HTTP_TOOL_ALLOW": "127.0.0.1:1"}
    for env in ("dev", "staging", "prod", "local", ""):
        with pytest.raises(SettingsError, match="ACTA_"):
            Settings.from_environ({**given, "ACTA_ENV": env})
    local = {**given, "ACTA_ENV": "trial", "ACTA_IS_LOCAL": "true"}
    assert Settings.from_environ(local).http_tool_allow == "127.0.0.1:1"
