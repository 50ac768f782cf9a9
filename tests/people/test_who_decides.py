"""Which tools are of high stakes unless their definition says otherwise, and who decides on their calls
(docs/design/people.md 12)."""

from typing import get_args

import pytest

from acta.engine.errors import ApproverMustDiffer, Conflict
from acta.engine.log.head import MAX_WRITERS
from acta.engine.people.intervention import NO_ROLES, require_another, with_others_only
from acta.engine.people.policies import Policy, approval_reason, who_decides
from acta.engine.settings import Settings, SettingsError
from acta.engine.tools.builtin import builtins
from acta.engine.tools.tool import Effect, Risk, ToolSpec, is_high_stakes_unless_said, with_approver
from tests.stores.documents import make_head, make_intervention

EFFECTS: tuple[Effect, ...] = get_args(Effect)
RISKS: tuple[Risk, ...] = get_args(Risk)


def tool(**fields: object) -> ToolSpec:
    return ToolSpec.model_validate(
        {"name": "send_payment", "description": "d", "input_schema": {"type": "object"}, **fields}
    )


@pytest.mark.parametrize("effect", EFFECTS)
@pytest.mark.parametrize("risk", RISKS)
def test_what_does_more_than_read_or_touches_the_system_is_of_high_stakes(effect: Effect, risk: Risk) -> None:
    assert is_high_stakes_unless_said("lookup", effect, risk) == (effect != "read" or risk == "system")


@pytest.mark.parametrize("name", ["send_email", "execute_code", "Send-Email", "EXECUTE_CODE"])
def test_a_tool_that_sends_mail_or_runs_code_is_whatever_it_says_of_its_effect(name: str) -> None:
    assert is_high_stakes_unless_said(name, "read", "read")


def test_of_the_builtin_tools_deleting_alone_asks_a_person() -> None:
    assert [name for name, spec in builtins().items() if spec.high_stakes] == ["delete_file"]
    assert not any(spec.approver_role or spec.wants_another_approver for spec in builtins().values())


@pytest.mark.parametrize(
    ("fields", "another"),
    [
        ({}, False), ({"approver_role": "finance"}, True), ({"approver_must_differ": True}, True),
        ({"approver_role": "finance", "approver_must_differ": False}, False),
    ],
)  # fmt: skip
def test_who_asked_may_not_approve_where_the_tool_has_a_role_or_says_so(
    fields: dict[str, object], another: bool
) -> None:
    assert tool(**fields).wants_another_approver == another


def test_the_tool_s_role_wins_and_an_agent_adds_but_takes_nothing_away() -> None:
    finance, anybody = tool(approver_role="finance"), tool()
    assert who_decides(finance, Policy(role="legal")) == (("finance",), True)
    assert who_decides(finance, Policy(approver_must_differ=False)) == (("finance",), True)
    assert who_decides(anybody, Policy(role="legal")) == (("legal",), False)
    assert who_decides(anybody, Policy(role="legal", approver_must_differ=True)) == (("legal",), True)
    assert who_decides(None, Policy()) == ((), False)


def test_an_operator_names_roles_for_all_tenants_and_for_one() -> None:
    named = {"*": {"delete_file": "records", "recall": "memory"}, "acme": {"delete_file": "owners"}}
    deleting, recalling = builtins()["delete_file"], builtins()["recall"]
    assert who_decides(with_approver(deleting, named, "acme"), Policy(role="legal")) == (("owners",), True)
    assert who_decides(with_approver(deleting, named, "other"), Policy()) == (("records",), True)
    assert with_approver(recalling, named, "acme").high_stakes
    assert with_approver(builtins()["list_files"], named, "acme") == builtins()["list_files"]
    assert with_approver(deleting, {"other": {"delete_file": "x"}}, "acme") == deleting


def test_a_new_file_asks_nobody_where_a_role_decides_on_what_is_replaced() -> None:
    writing = with_approver(builtins()["create_file"], {"*": {"create_file": "records"}}, "acme")
    assert approval_reason(None, writing, {"path": "a"}) is None
    assert approval_reason(None, writing, {"path": "a", "replace": True}) == "replaces_file"
    assert who_decides(writing, Policy()) == (("records",), True)


@pytest.mark.parametrize(
    ("named", "wrong"),
    [
        ({"*": {"delete_file": "two words"}}, "'two words' is not the name of a role"),
        ({"*": {"delete file": "records"}}, "'delete file' is not the name of a tool"),
        ({"*": {"update_plan": "records"}}, "'update_plan' is not the name of a tool"),
        ({"*": {f"tool_{number}": "records" for number in range(30)}}, "at most 512 characters"),
    ],
)
def test_a_role_that_could_never_decide_is_refused_before_it_is_deployed(
    named: dict[str, dict[str, str]], wrong: str
) -> None:
    with pytest.raises(SettingsError, match=wrong):
        Settings(env="prod", table="t", bucket="b", tool_approvers=named)


def test_a_function_reads_the_roles_as_json() -> None:
    required = {"ACTA_ENV": "prod", "ACTA_TABLE": "t", "ACTA_BUCKET": "b"}
    read = Settings.from_environ({**required, "ACTA_TOOL_APPROVERS": '{"*":{"delete_file":"records"}}'})
    assert read.tool_approvers == {"*": {"delete_file": "records"}}
    with pytest.raises(SettingsError, match=r"ACTA_TOOL_APPROVERS.*JSON such as"):
        Settings.from_environ({**required, "ACTA_TOOL_APPROVERS": "records"})


@pytest.mark.parametrize(
    ("option", "refused"), [("approve", True), ("retry", True), ("reject", False), ("skip", False)]
)
def test_who_asked_may_refuse_a_call_and_never_let_it_run(option: str, refused: bool) -> None:
    head = make_head("t", "ses_1", created_by="ann").with_writer("bob", NO_ROLES)
    asked = make_intervention("ses_1", "int_1", context=with_others_only({}), role="finance")
    for user in ("ann", "bob"):
        if refused:
            with pytest.raises(ApproverMustDiffer, match="somebody else with the role finance"):
                require_another(asked, option, user, head.askers)
        else:
            require_another(asked, option, user, head.askers)
    require_another(asked, option, "eve", head.askers)
    require_another(make_intervention("ses_1", "int_2"), option, "ann", head.askers)


def test_nobody_who_wrote_is_forgotten_the_last_there_is_room_for_is_the_last_who_may() -> None:
    head = make_head("t", "ses_1", created_by="ann")
    for number in range(MAX_WRITERS):
        head = head.with_writer(f"user-{number}", NO_ROLES)
    assert head.with_writer("user-0", NO_ROLES) == head.with_writer("ann", NO_ROLES) == head
    with pytest.raises(Conflict, match="Start another"):
        head.with_writer("one-more", NO_ROLES)
