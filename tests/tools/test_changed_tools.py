"""A call is for the tool as its turn read it: one that an admin changed since is not run unasked
(docs/design/people.md 16)."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from acta.engine.agents.agent import AgentDefinition
from acta.engine.log.conversation import ToolEntry
from acta.engine.models.model import ModelReply
from acta.engine.people.answers import intervention_view
from acta.engine.tools.port import CallContext, Toolbox
from acta.engine.tools.tool import LambdaConfig, ToolSpec
from acta.engine.untrusted.quoting import OutsideText
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, call, plans, says
from tests.people.test_other_approvers import ENDS, PAYS, acting, asked, paid, paying_house
from tests.tools.test_effect_ledger import Crash, Sink, run_with_a_crash

BOTH = says("I pay.", call("send_payment", order=7), call("delete_file", path="a.txt"))
ELSEWHERE = LambdaConfig(function="acta-test-tool-other")
EASY: dict[str, Any] = {"high_stakes": False}


def write_tool(house: House, **fields: Any) -> None:
    (old,) = house.definitions.tools.all(TENANT)
    changed = {"version": old.version + 1, "updated_at": house.clock.now(), **fields}
    house.definitions.tools.replace(TENANT, old, old.model_copy(update=changed))


def while_it_thinks(house: House, change: Callable[[], object]) -> None:
    """Has `change` made after the turn that asks for the call has read its tools, and before its commit."""
    turns = 0

    def meanwhile() -> None:
        nonlocal turns
        turns += 1
        if turns == 2:
            house.clock.advance(1)
            change()
            house.clock.advance(60)

    assert isinstance(house.model, ScriptedModel)
    house.model.meanwhile = meanwhile


def told(house: House, session: str, name: str = "send_payment") -> str:
    placed, _ = house.history(session).messages(0, 50)
    entries = [m.entry for m in placed if isinstance(m.entry, ToolEntry) and m.entry.name == name]
    return entries[0].content.text or ""


def agent_of(house: House, **fields: Any) -> AgentDefinition:
    now = house.clock.now()
    agent = AgentDefinition.model_validate({"agent_id": "payer", "name": "P", "version": 1, **fields})
    house.definitions.create_agent(TENANT, agent.model_copy(update={"created_at": now, "updated_at": now}))
    return agent.model_copy(update={"created_at": now, "updated_at": now})


def test_a_tool_that_becomes_high_stakes_while_the_model_thinks_is_not_run_unasked() -> None:
    house = paying_house(plans("pay"), PAYS, PAYS, *ENDS, tool=EASY)
    while_it_thinks(
        house, lambda: write_tool(house, high_stakes=True, approver_role="finance", config=ELSEWHERE)
    )
    session = acting(house, "ann").start("Pay").session_id
    house.run()
    assert told(house, session).startswith("Error: the tool send_payment was changed")
    assert (asked(house, session).role, paid(house)) == ("finance", 0)


def test_an_approval_is_not_for_what_was_written_while_the_model_thought() -> None:
    house = paying_house(plans("pay"), PAYS, PAYS, *ENDS, tool={"high_stakes": True})
    while_it_thinks(house, lambda: write_tool(house, approver_role="finance", config=ELSEWHERE))
    session = acting(house, "ann").start("Pay").session_id
    house.run()
    acting(house, "bob", "finance").resolve(session, asked(house, session), "approve")
    house.run()
    assert (asked(house, session).role, paid(house)) == ("finance", 0)


def test_another_tool_of_the_same_name_is_another_tool_whatever_its_version() -> None:
    house = paying_house(plans("pay"), PAYS, *ENDS, tool=EASY)

    def replace() -> None:
        (old,) = house.definitions.tools.all(TENANT)
        house.definitions.tools.delete(TENANT, old)
        now = house.clock.now()
        house.definitions.tools.create(TENANT, old.model_copy(update={"created_at": now, "updated_at": now}))

    while_it_thinks(house, replace)
    session = acting(house, "ann").start("Pay").session_id
    house.run()
    assert (house.head(session).state, paid(house)) == ("completed", 0)


def waiting_with_another_call(house: House, agent_id: str = "default") -> str:
    """A session whose payment needs nobody, and waits because its turn asks about the deletion of a file."""
    session = acting(house, "ann").start("Pay", agent_id=agent_id).session_id
    house.run()
    assert asked(house, session).tool_call is not None
    house.clock.advance(600)
    return session


def test_a_call_that_waited_for_another_one_s_decision_is_not_run_if_it_needs_one_now() -> None:
    house = paying_house(plans("pay"), BOTH, *ENDS, tool=EASY)
    session = waiting_with_another_call(house)
    write_tool(house, high_stakes=True)
    house.resolve(session, asked(house, session), "reject")
    house.run()
    assert told(house, session).startswith("Error: the tool send_payment was changed")
    assert (house.head(session).state, paid(house)) == ("completed", 0)


def test_a_call_that_waited_through_a_pause_is_not_run_if_it_needs_an_approval_now() -> None:
    house = paying_house(plans("pay"), PAYS, *ENDS, tool=EASY)
    sessions: list[str] = []
    while_it_thinks(house, lambda: house.pause(sessions[0]))
    sessions.append(acting(house, "ann").start("Pay").session_id)
    house.run()
    write_tool(house, high_stakes=True)
    house.resume(sessions[0])
    house.run()
    assert (house.head(sessions[0]).state, paid(house)) == ("completed", 0)


def test_a_call_that_waited_is_not_run_if_its_agent_wants_an_approval_now() -> None:
    house = paying_house(plans("pay"), BOTH, *ENDS, tool=EASY)
    agent = agent_of(house)
    session = waiting_with_another_call(house, "payer")
    stricter = agent.model_copy(update={"version": 2, "high_stakes": ("send_payment",)})
    house.definitions.replace_agent(TENANT, agent, stricter)
    house.resolve(session, asked(house, session), "reject")
    house.run()
    assert (house.head(session).state, paid(house)) == ("completed", 0)


def test_a_call_that_waited_is_run_where_nothing_was_changed() -> None:
    house = paying_house(plans("pay"), BOTH, *ENDS, tool=EASY)
    agent_of(house)
    session = waiting_with_another_call(house, "payer")
    house.resolve(session, asked(house, session), "reject")
    house.run()
    assert (house.head(session).state, paid(house)) == ("completed", 1)


def test_a_call_that_was_approved_is_not_run_once_its_agent_has_lost_the_tool() -> None:
    house = paying_house(plans("pay"), PAYS, *ENDS, tool={"high_stakes": True})
    agent = agent_of(house)
    session = acting(house, "ann").start("Pay", agent_id="payer").session_id
    house.run()
    one = asked(house, session)
    house.resolve(session, one, "approve")
    house.definitions.replace_agent(
        TENANT, agent, agent.model_copy(update={"version": 2, "tools": ("read_file",)})
    )
    house.run()
    assert told(house, session).startswith("Error: the tool 'send_payment' is not available any more")
    assert (house.head(session).state, paid(house)) == ("completed", 0)


def test_a_call_that_was_approved_is_not_run_once_its_agent_is_deleted() -> None:
    house = paying_house(plans("pay"), PAYS, *ENDS, tool={"high_stakes": True})
    agent = agent_of(house)
    session = acting(house, "ann").start("Pay", agent_id="payer").session_id
    house.run()
    house.resolve(session, asked(house, session), "approve")
    house.definitions.delete_agent(TENANT, agent)
    house.run()
    assert (house.head(session).state, paid(house)) == ("failed", 0)


def test_a_call_that_did_not_wait_reads_no_agent() -> None:
    """What admins change holds from the next turn on, so the definitions that the turn read are enough."""
    house = paying_house(plans("pay"), PAYS, *ENDS, tool=EASY)

    def unread(tenant: str, agent_id: str) -> AgentDefinition:
        raise AssertionError("the call read the agent's definition")

    house.runtime = house.runtime._replace(agent=unread, toolbox=Sink(""))
    session = acting(house, "ann").start("Pay").session_id
    house.run()
    assert (house.head(session).state, paid(house)) == ("completed", 1)


DELETES = says("I delete it.", call("delete_file", path="notes.md"))
REPLACES = says("I write.", call("create_file", path="notes.md", content="new", replace=True))


@pytest.mark.parametrize("asks", [DELETES, REPLACES])
@pytest.mark.parametrize("private", [True, False])
def test_a_file_that_is_changed_while_a_person_is_asked_is_left_as_it_is_and_asked_about_again(
    asks: ModelReply, private: bool
) -> None:
    house = House(ScriptedModel([plans("tidy"), asks, asks, *ENDS]))
    house.files.write(TENANT, "notes.md", b"as it was shown")
    visibility = "private" if private else "tenant"
    session = acting(house, "ann").start("Tidy", visibility=visibility).session_id
    house.run()
    first = asked(house, session)
    shown = intervention_view(first)["tool_call"]
    assert shown is not None
    assert shown["file_etag"] == house.files.etag(TENANT, "notes.md")
    house.files.write(TENANT, "notes.md", b"changed meanwhile")
    house.resolve(session, first, "approve")
    house.run()
    assert house.files.read(TENANT, "notes.md") == b"changed meanwhile"
    assert "was changed after a person was asked" in told(house, session, asks.calls[0].name)

    second = asked(house, session)
    assert second.intervention_id != first.intervention_id
    house.resolve(session, second, "approve")
    house.run()
    assert house.head(session).state == "completed"
    left = [file.path for file in house.files.list(TENANT, "", 10).files]
    assert left == ([] if asks is DELETES else ["notes.md"])


@pytest.mark.parametrize("asks", [DELETES, REPLACES])
@pytest.mark.parametrize("dies", ["before", "after"])
def test_a_call_that_is_made_again_after_a_crash_is_not_refused_for_what_it_did_itself(
    asks: ModelReply, dies: str
) -> None:
    house = House(ScriptedModel([plans("tidy"), asks, *ENDS]))
    house.files.write(TENANT, "notes.md", b"as it was shown")
    house.runtime = house.runtime._replace(toolbox=DyingOnce(house.runtime.toolbox, dies))
    session = house.start("Tidy").session_id
    house.run()
    house.resolve(session, asked(house, session), "approve")
    run_with_a_crash(house)
    assert house.head(session).state == "completed"
    assert told(house, session, asks.calls[0].name).startswith(("Deleted", "Replaced"))


class DyingOnce:
    """A Toolbox whose first call of a tool dies `before` or `after` it has had its effect."""

    def __init__(self, toolbox: Toolbox, dies: str) -> None:
        self._toolbox, self._dies = toolbox, dies

    def run(self, spec: ToolSpec, arguments: Mapping[str, Any], context: CallContext) -> str | OutsideText:
        dies, self._dies = self._dies, ""
        if dies == "before":
            raise Crash
        said = self._toolbox.run(spec, arguments, context)
        if dies == "after":
            raise Crash
        return said


def test_with_another_path_of_theirs_a_person_replaces_a_file_that_they_were_not_shown() -> None:
    house = House(ScriptedModel([plans("tidy"), REPLACES, *ENDS]))
    for path in ("notes.md", "other.md"):
        house.files.write(TENANT, path, b"old")
    session = house.start("Tidy").session_id
    house.run()
    house.files.write(TENANT, "notes.md", b"changed meanwhile")
    wanted = {"path": "other.md", "content": "mine", "replace": True}
    house.resolve(session, asked(house, session), "modify", input=wanted)
    house.run()
    assert house.files.read(TENANT, "other.md") == b"mine"
    assert house.files.read(TENANT, "notes.md") == b"changed meanwhile"
