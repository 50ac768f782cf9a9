"""The roles that a token's claim grants (docs/design/api.md 12).

API Gateway hands a list over as text: `["a", "b"]` arrives as `[a b]`, and so does `["a b"]`. A name is never taken out
of such a text where it may have been a part of a longer one.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple


class RoleRules(NamedTuple):
    """How this deployment's issuer names roles. `role_map`: a name in the claim -> the role, empty where it grants
    nothing; an empty map: every name is the role of that name. `no_spaces`: the issuer has no name with a space in it.
    Without both, nobody can tell two names from one.
    """

    role_map: Mapping[str, str] = MappingProxyType({})
    no_spaces: bool = False


AS_NAMED = RoleRules()


def roles_from(claim: object, rules: RoleRules = AS_NAMED) -> frozenset[str]:
    """A list, or a list as JSON, holds the names as they are. The gateway's text is split if there is only one way to
    split it; any other text is one name. What can be read in two ways, or in none, grants nothing: so does JSON that
    the map also knows as names with quotation marks.
    """
    named = _names(claim, rules)
    roles = (rules.role_map.get(name, "") for name in named) if rules.role_map else named
    return frozenset(filter(None, roles))


def _names(claim: object, rules: RoleRules) -> Sequence[str]:
    if isinstance(claim, list | tuple):
        return [name for name in claim if isinstance(name, str)]
    if not isinstance(claim, str):
        return ()
    if not (claim.startswith("[") and claim.endswith("]")):
        return (claim,)
    tokens = claim[1:-1].split(" ")
    try:
        listed = json.loads(claim)
    except (ValueError, RecursionError):
        return tokens if rules.no_spaces or len(tokens) == 1 else _only_reading(tokens, rules.role_map)
    return [] if _only_reading(tokens, rules.role_map) else [name for name in listed if isinstance(name, str)]


def _only_reading(tokens: Sequence[str], known: Iterable[str]) -> Sequence[str]:
    """The known names that the tokens are, one after the other, if there is one way to read them; else none."""
    by_first: dict[str, list[tuple[str, ...]]] = {}
    for name in known:
        parts = tuple(name.split(" "))
        by_first.setdefault(parts[0], []).append(parts)
    ways, last = [1] + [0] * len(tokens), [0] * (len(tokens) + 1)
    for start, token in enumerate(tokens):
        for parts in by_first.get(token, ()) if ways[start] else ():
            end = start + len(parts)
            if tuple(tokens[start:end]) == parts:
                ways[end] += ways[start]
                last[end] = start
    if ways[-1] != 1:
        return ()
    found, end = [], len(tokens)
    while end:
        found.append(" ".join(tokens[last[end] : end]))
        end = last[end]
    return found
