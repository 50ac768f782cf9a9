"""A call caught at its start, in the middle or after its worker died; and what came of it."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from acta.engine.log.commit import Decision
from acta.engine.log.conversation import ToolEntry
from acta.engine.recovery.recover import recover
from acta.engine.tools.execute import run_call
from acta.engine.tools.port import CallContext
from acta.engine.tools.tool import Effect, ToolSpec
from acta.engine.untrusted.quoting import OutsideText
from tests.in_process.house import TENANT, House
from tests.tools.test_effect_ledger import Crash, Sink, house_with_sink


class Halt(Exception):
    """The test has seen what it waited for."""


def died(effect: Effect, dies: str = "after") -> tuple[House, Sink, str, Decision]:
    """A call whose worker died, and the decision that led to it."""
    house, sink, session = house_with_sink(effect, dies)
    with pytest.raises(Crash):
        house.run()
    return house, sink, session, house.decisions[-1]


def about_to_act(effect: Effect) -> tuple[House, Sink, str, Decision]:
    house, sink, session = house_with_sink(effect, "")

    until_act(house)
    return house, sink, session, house.decisions[-1]


def until_act(house: House) -> None:
    def halt(decision: Decision) -> None:
        if decision.next == "act":
            raise Halt

    with pytest.raises(Halt):
        house.run(halt)


def taken_over(house: House, act: Decision) -> None:
    """Its execution is lost, and the next generation has the session."""
    house.workflow.close(act)
    assert recover(house.fresh_repository(), house.workflow, TENANT, act.at.session_id) == "restarted"


def again(house: House, act: Decision) -> None:
    """The engine's retry of the one call."""
    (call_id,) = act.calls or ()
    run_call(house.runtime._replace(repository=house.fresh_repository()), act.at, call_id, 1, 60)


class Meanwhile:
    """It happens once, while the call is at work."""

    def __init__(self, sink: Sink, happens: Callable[[], object]) -> None:
        self._sink, self._due = sink, [happens]

    def run(self, spec: ToolSpec, arguments: Mapping[str, Any], context: CallContext) -> str | OutsideText:
        while self._due:
            self._due.pop()()
        return self._sink.run(spec, arguments, context)


def meanwhile(house: House, sink: Sink, happens: Callable[[], object]) -> None:
    house.runtime = house.runtime._replace(toolbox=Meanwhile(sink, happens))


def results(house: House, session: str) -> list[str]:
    """Of the refund, in the log and in the conversation; both say the same."""
    commits = house.log.read(TENANT, session, 1).commits
    logged = [entry for commit in commits for entry in commit.entries if isinstance(entry, ToolEntry)]
    told = [
        one.entry for one in house.history(session).messages(0, 50)[0] if isinstance(one.entry, ToolEntry)
    ]
    texts = [
        [str(each.content.text) for each in entries if each.name == "refund"] for entries in (logged, told)
    ]
    assert texts[0] == texts[1]
    return texts[0]
