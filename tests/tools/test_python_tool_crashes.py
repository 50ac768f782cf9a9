"""Python tools whose process dies in the middle of a call, ahead of what they do outside or after it: the worker that
waits for the answer, or the tool's own Lambda (docs/design/tools.md 12).
"""

import io
import json
from collections.abc import Callable
from typing import Any, Literal

import pytest

from acta import Call, tool
from acta.engine.log.conversation import ToolEntry
from acta.engine.tools.runtime import Tools
from acta.engine.tools.tenant.functions import PythonTools
from acta.testing.python_tools import tools_of
from acta.tools.define import Effect
from tests.in_process.house import House
from tests.in_process.scripted import ScriptedModel, call, completes, plans, says, step
from tests.tools.test_effect_ledger import Crash

When = Literal["before", "after", "never"]
Whose = Literal["worker", "tool"]
SCRIPT = [
    plans("pay"),
    says("", call("refund", order="7")),
    says("", step(1, "completed", "ok")),
    completes("Paid."),
]


class Books:
    """What the tool does outside: who knows the key repeats nothing. It dies once, at `dies`."""

    def __init__(self, dies: When, whose: Whose) -> None:
        self.dies, self.whose = dies, whose
        self.keys: list[str] = []
        self.reruns: list[bool] = []

    def function(self, effect: Effect) -> Callable[..., Any]:
        @tool(effect=effect, high_stakes=False)
        def refund(order: str, call: Call) -> str:
            """Pays back."""
            self.reruns.append(call.rerun)
            self._perhaps_die("before")
            self.keys.append(call.effect_id)
            self._perhaps_die("after")
            return f"Refunded {order}."

        return refund

    def _perhaps_die(self, now: When) -> None:
        if self.dies == now:
            self.dies = "never"
            raise Crash


class DyingLambda:
    """Where a function dies in the tool's own Lambda, that is what Lambda says, and the worker lives."""

    def __init__(self, client: Any, books: Books) -> None:
        self._client, self._books = client, books

    def invoke(self, **asked: Any) -> Any:
        try:
            return self._client.invoke(**asked)
        except Crash:
            if self._books.whose == "worker":
                raise
            died = {"errorType": "Runtime.ExitError", "errorMessage": "signal: killed"}
            return {"FunctionError": "Unhandled", "Payload": io.BytesIO(json.dumps(died).encode())}


def played(effect: Effect, books: Books) -> tuple[House, str]:
    """The run, as far as it goes by itself: the engine calls a worker again that died."""
    house = House(ScriptedModel(SCRIPT), tools=tools_of([books.function(effect)]))
    toolbox = house.runtime.toolbox
    assert isinstance(toolbox, Tools)
    runner: Any = toolbox.outside["python"]()
    python: PythonTools = runner.__self__
    dying = python._replace(client=lambda seconds: DyingLambda(python.client(seconds), books))
    toolbox.outside = {**toolbox.outside, "python": lambda: dying.run}
    session = house.start("Pay back order 7").session_id
    try:
        house.run()
    except Crash:
        house.go_on(house.decisions[-1])
        house.run()
    return house, session


def result(house: House, session: str) -> str:
    placed, _ = house.history(session).messages(0, 50)
    (said,) = (one.entry for one in placed if isinstance(one.entry, ToolEntry) and one.entry.name == "refund")
    return said.content.text or ""


@pytest.mark.parametrize("dies", ["before", "after"])
@pytest.mark.parametrize("whose", ["worker", "tool"])
def test_a_call_that_may_happen_once_is_asked_about_and_never_repeated_by_itself(
    dies: When, whose: Whose
) -> None:
    books = Books(dies, whose)
    house, session = played("once", books)

    (doubt,) = house.head(session).interventions
    assert doubt.type == "error_recovery"
    assert len(books.reruns) == 1
    if books.keys:
        house.resolve(session, doubt, "record", result="Refunded 7.")
    else:
        house.resolve(session, doubt, "retry")
    house.run()

    assert house.head(session).state == "completed"
    assert len(books.keys) == 1
    assert "Refunded 7." in result(house, session)


@pytest.mark.parametrize("dies", ["before", "after"])
def test_an_idempotent_call_whose_worker_died_runs_again_under_its_key_and_knows_it(dies: When) -> None:
    books = Books(dies, "worker")
    house, session = played("idempotent", books)

    assert house.head(session).state == "completed"
    assert books.reruns == [False, True]
    assert len(set(books.keys)) == 1
    assert "Refunded 7." in result(house, session)


@pytest.mark.parametrize("dies", ["before", "after"])
def test_a_read_whose_worker_died_runs_again(dies: When) -> None:
    books = Books(dies, "worker")
    house, session = played("read", books)

    assert house.head(session).state == "completed"
    assert "Refunded 7." in result(house, session)


@pytest.mark.parametrize("dies", ["before", "after"])
def test_a_read_that_died_in_its_own_lambda_has_failed_and_the_model_is_told(dies: When) -> None:
    books = Books(dies, "tool")
    house, session = played("read", books)

    assert house.head(session).state == "completed"
    assert len(books.reruns) == 1
    assert "refund failed." in result(house, session)
