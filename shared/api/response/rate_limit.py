"""The headers `RateLimit-Policy` and `RateLimit`: what a tenant may use, and what is left of it.

Source: IETF, draft-ietf-httpapi-ratelimit-headers-11, "RateLimit header fields for HTTP": lists of strings with
parameters (RFC 9651). q: the quota, w: its window in seconds, r: what is left, t: seconds until there is more.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from shared.domain.errors import LimitReached, Quota

POLICY, LIMIT = "RateLimit-Policy", "RateLimit"

UNKNOWN: Mapping[str, tuple[int, int]] = MappingProxyType({})


def limit_headers(quotas: Iterable[Quota], left: Mapping[str, tuple[int, int]] = UNKNOWN) -> dict[str, str]:
    """`left`: by the quota's name, what is left and for how many seconds. Where it is not known, nothing is said."""
    headers = {}
    policy = ", ".join(_policy(quota) for quota in quotas)
    if policy:
        headers[POLICY] = policy
    if left:
        headers[LIMIT] = ", ".join(f'"{name}";r={rest};t={seconds}' for name, (rest, seconds) in left.items())
    return headers


def refused_headers(error: LimitReached) -> dict[str, str]:
    """Of a 429."""
    left = {error.quota.name: (0, error.retry_after)}
    return {"Retry-After": str(error.retry_after), **limit_headers([error.quota], left)}


def _policy(quota: Quota) -> str:
    window = "" if quota.window is None else f";w={quota.window}"
    return f'"{quota.name}";q={quota.most}{window}'
