"""The roles that a token's claim grants (docs/design/api.md 12).

API Gateway hands a list over as text: `["a", "b"]` arrives as `[a b]`, and so does `["a b"]`. A name is never taken out
of such a text where it may have been a part of a longer one. Nor is such a text read as JSON: the gateway makes
`["admin"]` of a list with one name that has quotation marks, and people may give groups such names. Names are compared
as they are: case, blanks, quotation marks, commas and letters that look alike make another name.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple


class RoleRules(NamedTuple):
    """How this deployment's issuer names roles. `role_map`: a name in the claim -> the role, empty where it grants
    nothing; an empty map: every name is the role of that name. `no_spaces`: the issuer has no name with a space in it.
    Without both, nobody can tell two names from one. `are_json`: the issuer makes the claim a text, which is a list as
    JSON and nothing else.
    """

    role_map: Mapping[str, str] = MappingProxyType({})
    no_spaces: bool = False
    are_json: bool = False


AS_NAMED = RoleRules()


def roles_from(claim: object, rules: RoleRules = AS_NAMED) -> frozenset[str]:
    """A list holds the names as they are, and so does a list as JSON, if the issuer sends JSON. The gateway's text is
    split if there is only one way to split it; any other text is one name. What can be read in two ways, or in none,
    grants nothing.
    """
    named = _names(claim, rules)
    roles = (rules.role_map.get(name, "") for name in named) if rules.role_map else named
    return frozenset(filter(None, roles))


def _names(claim: object, rules: RoleRules) -> Sequence[str]:
    if rules.are_json and isinstance(claim, str):
        try:
            claim = json.loads(claim)
        except (ValueError, RecursionError):
            return ()
        return claim if isinstance(claim, list) and all(isinstance(name, str) for name in claim) else ()
    if isinstance(claim, list | tuple):
        return [name for name in claim if isinstance(name, str)]
    if not isinstance(claim, str):
        return ()
    if not (claim.startswith("[") and claim.endswith("]")):
        return (claim,)
    tokens = claim[1:-1].split(" ")
    if rules.no_spaces or len(tokens) == 1:
        return tokens if all(tokens) else ()  # an empty one: a name had a space after all
    return _only_reading(tokens, rules.role_map)


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
