"""Which roles a claim grants: names are never taken out of a text that can be read in another way
(docs/design/api.md 12)."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acta.engine.api.role_claims import RoleRules, roles_from
from acta.engine.settings import Settings, SettingsError
from tests.api.gateway import Gateway, claims
from tests.api.samples import SETTINGS, start_api

MAPPED = RoleRules({"Billing admin": "finance", "admin": "admin", "Everyone": "", "acta-users": "member"})
NAMES = ("admin", "member", "Billing", "Billing admin", "Everyone", "admin of Billing", "x")


def as_the_gateway_sends(names: list[str]) -> str:
    return f"[{' '.join(names)}]"


JSON = RoleRules(are_json=True)
BY_RULES = (RoleRules(), RoleRules(no_spaces=True), RoleRules({"admin": "admin", "member": "member"}), JSON)


def test_a_list_has_the_names_as_they_are() -> None:
    assert roles_from(["admin", "member"]) == roles_from(("admin", "member")) == {"admin", "member"}


@pytest.mark.parametrize("claim", ["finance", "[finance]", ["finance"]])
def test_one_name_is_the_role_of_that_name(claim: object) -> None:
    assert roles_from(claim) == {"finance"}


@pytest.mark.parametrize("claim", ['["admin","member"]', ' [ "admin", "member" ] ', ["admin", "member"]])
def test_an_issuer_that_sends_json_has_its_list_read(claim: object) -> None:
    assert roles_from(claim, JSON) == {"admin", "member"}
    assert roles_from('["Billing admin"]', RoleRules({"Billing admin": "finance"}, are_json=True)) == {
        "finance"
    }


@pytest.mark.parametrize(
    "claim",
    [
        "admin",
        "[admin]",
        "[admin member]",
        '["admin"',
        '"admin"',
        '{"admin": 1}',
        '[["admin"]]',
        '["admin", 7]',
        "",
    ],
)
def test_an_issuer_that_sends_json_grants_nothing_by_anything_else(claim: str) -> None:
    assert roles_from(claim, JSON) == frozenset()


NAMED_LIKE_A_LIST = (
    '["admin"]', '"admin"', '["admin", "member"]', '"admin","member"', "[admin]", "[[admin]]", "admin,member",
    "'admin'", "\u201cadmin\u201d", '\\"admin\\"', "[\"admin\"", '{"admin"}', "(admin)",
)  # fmt: skip
LOOKS_LIKE_IT = (
    "Admin", "ADMIN", " admin", "admin ", "\tadmin", "admin\n", "adm\u0456n", "\uff41dmin", "admin\u200b", "\xa0admin",
    "admin\0", "ad min", "",
)  # fmt: skip


@pytest.mark.parametrize("rules", BY_RULES, ids=str)
@pytest.mark.parametrize("name", [*NAMED_LIKE_A_LIST, *LOOKS_LIKE_IT])
def test_a_group_never_has_a_role_by_marks_in_its_name_or_by_looking_like_another(
    name: str, rules: RoleRules
) -> None:
    """Alone in a list, as the gateway sends it, and beside another."""
    for names in ([name], ["x", name], [name, "x"]):
        sent = as_the_gateway_sends(names) if rules is not JSON else json.dumps(names)
        assert "admin" not in roles_from(sent, rules), sent


@pytest.mark.parametrize("rules", BY_RULES, ids=str)
@pytest.mark.parametrize(
    "claim", ['["admin"]', '["Acta Admins"]', "[7]", '[["admin"]]', "[]", "[null]", "[{}]"]
)
def test_a_text_that_is_json_is_read_as_json_only_where_the_issuer_sends_json(
    claim: str, rules: RoleRules
) -> None:
    assert ("admin" in roles_from(claim, rules)) == (rules is JSON and claim == '["admin"]')


@pytest.mark.parametrize(
    "claim", [None, "", "[]", [], {}, 7, [None, 3, ["admin"]], {"admin": True}, "[", "]", "[[", "[ ]"]
)
def test_anything_else_is_no_role(claim: object) -> None:
    assert roles_from(claim).isdisjoint({"admin", "member"})


@pytest.mark.parametrize(
    "claim",
    [
        ["Billing admin"], "[Billing admin]", "Billing admin", '["Billing admin"]', "[admin Billing]",
        "[member Billing admin]", "[finance admin]", "admin member", "admin,member", "[admin,member]",
        "[admin, member]", "[admin  member]", "[ admin]", "[[admin]", "[admin] [member]", '[["admin"]]',
        "[\tadmin member]", " admin", "[admin member]", "[member admin]",
    ],
)  # fmt: skip
def test_a_name_that_may_be_part_of_a_longer_one_grants_nothing(claim: object) -> None:
    assert roles_from(claim).isdisjoint({"admin", "member"})


@pytest.mark.parametrize(
    "rules", [RoleRules(no_spaces=True), RoleRules({"admin": "admin", "member": "member"})]
)
def test_what_the_gateway_makes_of_two_names_is_two_where_the_operator_says_how_they_are_called(
    rules: RoleRules,
) -> None:
    assert roles_from("[member admin]", rules) == {"member", "admin"}


def test_a_name_in_quotation_marks_is_what_the_map_says_of_it() -> None:
    assert roles_from('["admin"]', RoleRules({"admin": "admin"})) == frozenset()
    assert roles_from('["admin"]', RoleRules({"admin": "admin", '"admin"': "member"})) == {"member"}


def test_an_issuer_without_spaces_in_its_names_has_them_taken_apart() -> None:
    rules = RoleRules(no_spaces=True)
    assert roles_from("[finance admin x]", rules) == {"finance", "admin", "x"}
    assert roles_from("finance admin", rules) == {"finance admin"}, "no list"


@pytest.mark.parametrize(
    ("names", "roles"),
    [
        (["Billing admin"], {"finance"}), (["admin", "Billing admin"], {"admin", "finance"}),
        (["Everyone", "admin"], {"admin"}), (["Everyone", "acta-users", "Billing admin"], {"member", "finance"}),
        (["unknown", "admin"], set()), (["Billing"], set()), (["member"], set()), (["Everyone"], set()),
    ],
)  # fmt: skip
def test_a_map_names_all_there_are_and_tells_longer_names_from_shorter(
    names: list[str], roles: set[str]
) -> None:
    assert roles_from(as_the_gateway_sends(names), MAPPED) == roles


def test_what_a_map_lets_be_read_in_two_ways_grants_nothing() -> None:
    both = RoleRules({**MAPPED.role_map, "Billing": "member"})
    for names in (["Billing admin"], ["Billing", "admin"]):
        assert roles_from(as_the_gateway_sends(names), both) == frozenset()
        of_json = both._replace(are_json=True)
        assert roles_from(json.dumps(names), of_json) == {both.role_map[name] for name in names}


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from(NAMES), unique=True), st.sets(st.sampled_from(NAMES)), st.booleans())
def test_whatever_the_gateway_makes_of_a_list_it_grants_no_more_than_the_list(
    names: list[str], more: set[str], mapped: bool
) -> None:
    """A map knows all that stands in the claim: that is what it is for."""
    rules = RoleRules({name: name.replace(" ", "-") for name in {*names, *more}} if mapped else {})
    assert roles_from(as_the_gateway_sends(names), rules) <= roles_from(names, rules)


def test_a_long_claim_is_read_once_through() -> None:
    """Its readings are counted, not tried: there are more of these than could be."""
    doubled = RoleRules({"a": "member", "a a": "admin"})
    assert roles_from("[" + " ".join(["a"] * 3_000) + "]", doubled) == frozenset()


def deployment(**values: str) -> Settings:
    return Settings.from_environ({"ACTA_ENV": "prod", "ACTA_TABLE": "t", "ACTA_BUCKET": "b", **values})


def test_a_deployment_s_map_is_what_its_functions_go_by() -> None:
    given = deployment(ACTA_ROLE_MAP='{"Billing admin": "finance", "users": "member", "Everyone": ""}')
    assert given.role_map == {"Billing admin": "finance", "users": "member", "Everyone": ""}
    api = start_api(settings=given)
    for roles, status in (
        ("[Everyone users]", 200),
        ("[users]", 200),
        ("[member]", 403),
        ("[Billing admin]", 403),
    ):
        answer = Gateway(api.handler, token=claims(roles=roles)).request("POST", "/v1/sessions", json_body={})
        assert (answer.status in (200, 202)) == (status == 200)
    assert SETTINGS.role_map == {}


@pytest.mark.parametrize("value", ["Billing", '["a"]', '{"a": "two words"}', '{"a": 1}', "[" * 99_999])
def test_a_map_that_cannot_be_meant_stops_the_deployment(value: str) -> None:
    with pytest.raises(SettingsError, match="ACTA_ROLE_MAP"):
        deployment(ACTA_ROLE_MAP=value)
