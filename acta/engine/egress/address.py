"""Which URLs tools of kind `http` may call, tenants' webhooks may have, and spans may go to: allowed hosts, https, and
public addresses only (docs/design/tools.md 25, people.md 35).

A host is looked up once for each request, and the connection goes to the address that was checked. So it does not help
an attacker to let the name resolve to another address a moment later.
"""

import ipaddress
import socket
from collections.abc import Callable, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from acta.engine.settings import Settings

HTTPS_PORT, HTTP_PORT = 443, 80
_UNICAST = ipaddress.ip_network("2000::/3")
_SPECIAL = tuple(
    map(
        ipaddress.ip_network,
        (
            "192.0.0.0/24", "192.88.99.0/24", "2001::/23", "2002::/16", "3fff::/20",
            "192.31.196.0/24", "192.52.193.0/24", "192.175.48.0/24", "2620:4f:8000::/48", "168.63.129.16/32",
        ),
    )
)  # fmt: skip
"""Networks of protocols, relays, tunnels (6to4), examples and the nearest server (AS112), and a host inside of Azure.
`ipaddress` does not refuse them, or not in each release. Source: IANA, the special-purpose address registries.
"""
_ISATAP, _ISATAP_MASK = 0x0000_5EFE, 0xFDFF_FFFF
"""Before the IPv4 address in the low half of a tunnel's address. Source: RFC 5214, section 6.1."""

Resolve = Callable[[str, int], Sequence[str]]


class AddressRefused(Exception):
    """The message is for the caller or the model. It may name the host, and never names its IP address. `remedy`: a
    sentence for admins and operators, about the setting that helps; empty: none does.
    """

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.remedy = remedy

    @property
    def explained(self) -> str:
        """The message and the remedy, for the caller of the API."""
        return f"{self}. {self.remedy}".rstrip()


class HostSettings(NamedTuple):
    """The names of two settings: `listed` has the allowed hosts, `exempt` those of a local stack that need neither
    https nor a public address.
    """

    listed: str
    exempt: str


FOR_TOOLS = HostSettings("http_tool_hosts", "http_tool_allow")
FOR_NOTIFICATIONS = HostSettings("notify_hosts", "notify_allow")
FOR_TRACES = HostSettings("traces_hosts", "traces_allow")


class Target(NamedTuple):
    """`path`: includes the query. `host`: the certificate must be valid for it. `ip`: the connection goes there; empty:
    the host was not looked up.
    """

    scheme: str
    host: str
    port: int
    path: str
    ip: str = ""

    @property
    def origin(self) -> tuple[str, str, int]:
        return self.scheme, self.host, self.port


def is_public(address: str) -> bool:
    """Whether tools may connect to an address. An IPv6 address must be global unicast. A mapped IPv4 address
    (`::ffff:…`) is judged as IPv4, and one that a tunnel leads to (ISATAP) must be public, too.
    """
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:  # with a zone, for instance; such an address is link-local
        return False
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped is not None:
            return is_public(str(ip.ipv4_mapped))
        is_tunnel = (int(ip) >> 32) & _ISATAP_MASK == _ISATAP
        if ip not in _UNICAST or (is_tunnel and not is_public(str(ipaddress.IPv4Address(int(ip) % 2**32)))):
            return False
    elif ip.is_multicast:
        return False
    return ip.is_global and not ip.is_reserved and not any(ip in network for network in _SPECIAL)


def look_up(host: str, port: int) -> Sequence[str]:
    """The host's addresses, as the operating system resolves it. Raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(each[4][0]) for each in found))


class AddressGuard:
    """Applies the rules for URLs. `resolve`: looks a host up. `lists`: whose hosts they are."""

    def __init__(
        self, settings: Settings, resolve: Resolve = look_up, lists: HostSettings = FOR_TOOLS
    ) -> None:
        self._lists = lists
        self._hosts = _names(getattr(settings, lists.listed))
        self._exempt = _names(getattr(settings, lists.exempt))
        self._is_local = settings.is_local
        self._resolve = resolve

    def check(self, url: str) -> Target:
        """Checks everything but the host's addresses. Raises AddressRefused."""
        target = _parsed(url)
        at = _name(target.host, target.port)
        if at in self._exempt:
            return target
        if target.scheme != "https":
            raise AddressRefused("only https is allowed", self._exemption(at))
        listed = at in self._hosts or (target.port == HTTPS_PORT and _bare(target.host) in self._hosts)
        if not listed:
            named = _bare(target.host) if target.port == HTTPS_PORT else at
            raise AddressRefused(
                f"the host {at} is not one of those this deployment allows; its operator has to allow it",
                self._listing(named),
            )
        return target

    def _listing(self, named: str) -> str:
        listed = self._lists.listed
        if not self._is_local:  # members are told of webhooks' hosts, too, and of tools' hosts admins alone
            is_of_tools = self._lists is FOR_TOOLS
            return (
                f"An operator adds {named} to the setting {listed} of the environment." if is_of_tools else ""
            )
        variable = f"ACTA_{listed.upper()}"
        return f"Start the local stack with {variable}={named}. {self._exemption('')}".strip()

    def _exemption(self, at: str) -> str:
        """The remedy for a server on the developer's own machine, which only the local stack may call."""
        if not self._is_local:
            return ""
        variable = f"ACTA_{self._lists.exempt.upper()}"
        return f"For a server of your own machine start the local stack with {variable}={at or '127.0.0.1:8000'}."

    def resolve(self, url: str) -> Target:
        """Checks everything, and returns the target with its `ip`. Raises AddressRefused, and OSError where the host is
        unknown.
        """
        target = self.check(url)
        addresses = self._resolve(target.host, target.port)
        if not addresses:
            raise OSError("no address")
        is_exempt = _name(target.host, target.port) in self._exempt
        # A name with a private address among public ones is not trusted.
        if not is_exempt and not all(is_public(address) for address in addresses):
            at = _name(target.host, target.port)
            message = f"the host {_bare(target.host)} is not at a public address"
            raise AddressRefused(message, self._exemption(at))
        return target._replace(ip=addresses[0])


def _parsed(url: str) -> Target:
    if not url.isascii() or not url.isprintable() or any(char in url for char in ' \\"<>^`{|}'):
        raise AddressRefused("the URL has characters that a URL may not have")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise AddressRefused("the URL cannot be read") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise AddressRefused("the URL must begin with https:// and name a host")
    if "@" in parts.netloc:
        raise AddressRefused("a URL may not carry credentials; use a header")
    if "#" in url:
        raise AddressRefused("a URL may not have a fragment")
    if port is None:
        port = HTTPS_PORT if parts.scheme == "https" else HTTP_PORT
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(parts.scheme, parts.hostname.rstrip("."), port, path)


def _names(setting: str) -> frozenset[str]:
    return frozenset(each.strip().lower() for each in setting.split(",") if each.strip())


def _bare(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _name(host: str, port: int) -> str:
    return f"{_bare(host)}:{port}"
