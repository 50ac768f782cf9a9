"""Every call of the client: its path is a route, and its type is what the document says of that route."""

import inspect
import subprocess
import sys
from collections.abc import Iterator
from operator import attrgetter
from types import NoneType
from typing import Any, NamedTuple, get_args, get_type_hints

import pytest

from acta.client import api as sessions
from acta.client import calls as made
from acta.client import shapes
from acta.client.api import AsyncClient, Client, DeploymentCalls, FileCalls
from acta.client.callers import listing, operation
from acta.client.deployment import Deployment
from acta.client.errors import ApiError, ServerError, class_of
from acta.client.flows import HttpRequest, Pause
from acta.client.following import Update
from acta.engine.api.operation import Operation
from acta.engine.api.operations import OPERATIONS
from acta.engine.sessions.bodies import StartSession
from acta.infra.document.openapi import answered
from acta.infra.document.schemas import published_name
from tests.api.gateway import routed

CLASSES = (
    sessions.SessionCalls,
    DeploymentCalls,
    FileCalls,
    made.ApiCalls,
    made.AgentCalls,
    made.ToolCalls,
    made.McpServerCalls,
    made.ToolSecretCalls,
    made.NotificationCalls,
    made.PromptCalls,
    made.MemoryCalls,
)
BY_PATH = ("get", "items", "post", "put")
"""Of `DeploymentCalls`: any path may be given."""
FOLLOWING = ("updates", "follow", "wait", "session", "with_whole_inputs")
"""They give a part of the polling answer, or what they were given."""
NAMES = {"shapes": shapes, "Update": Update}
"""What annotations name and the client does not import while it runs."""
PAGES = ("page", "searched page")
WORDS = {
    "definition": {"name": "x"},
    "input": {},
    "tools": {},
    "content": "x",
    "version": 1,
    "intervention": {},
}


class Call(NamedTuple):
    name: str
    build: Any

    @property
    def request(self) -> HttpRequest:
        """The first one that it makes."""
        parameters = list(inspect.signature(self.build).parameters.values())[1:]
        needed = {
            one.name: WORDS.get(one.name, "x")
            for one in parameters
            if one.default is one.empty and one.kind is not one.VAR_KEYWORD
        }
        step = next(self.build(object(), **needed))
        assert isinstance(step, HttpRequest)
        return step


def calls() -> Iterator[Call]:
    for each in CLASSES:
        for name, one in vars(each).items():
            if isinstance(one, operation):
                yield Call(f"{each.__name__}.{name}", one.flow)
            if isinstance(one, listing):
                yield Call(f"{each.__name__}.{name}", one.stream)


CALLS = {call.name: call for call in calls() if call.build.__name__ not in (*BY_PATH, "with_whole_inputs")}


def described(request: HttpRequest) -> Operation:
    """What the document says of its route."""
    key = routed(request.method, request.path)[0]
    (found,) = (row for row in OPERATIONS if str(row) == key)
    return found


@pytest.mark.parametrize("name", CALLS)
def test_every_call_asks_a_route_and_gives_what_the_document_says(name: str) -> None:
    call = CALLS[name]
    told = described(call.request)
    if call.build.__name__ in FOLLOWING:
        return
    returned = get_type_hints(call.build, globalns={**vars(sys.modules[call.build.__module__]), **NAMES})
    # of a Flow the third argument is what it returns; of a Stream the first has Item[...] of what it gives
    yields, _, result = get_args(returned["return"])
    items = [get_args(one)[0] for one in get_args(yields) if one not in (HttpRequest, Pause)]
    answers = [answer for answer in told.answers if answer.status < 300]
    if items:
        assert any(
            answer.form in PAGES and published_name(items[0].__name__) in answer.shapes for answer in answers
        )
    elif result in (NoneType, bytes):
        assert {answer.form for answer in answers} & {"empty", "raw", *PAGES}
    else:
        assert any(published_name(result.__name__) in answer.shapes for answer in answers), (result, answers)


def test_the_fields_of_a_start_are_those_of_its_body() -> None:
    named = set(inspect.signature(made.ApiCalls.start.flow).parameters)
    assert named - {"self", "more", "idempotency_key"} <= set(StartSession.model_fields)


def test_every_operation_that_names_a_method_of_the_client_has_it() -> None:
    with Client(Deployment("http://127.0.0.1:1", "x")) as client:
        for row in OPERATIONS:
            assert not row.client or callable(attrgetter(row.client)(client)), row.client


def test_both_clients_have_every_call() -> None:
    deployment = Deployment("http://127.0.0.1:1", "x")
    for client in (Client(deployment), AsyncClient(deployment)):
        found = (client, *vars(client).values())
        assert {each for each in CLASSES if any(isinstance(part, each) for part in found)} == {*CLASSES}


def test_every_code_of_the_document_has_a_class_of_its_own_status() -> None:
    for entry in answered():
        found = class_of(entry.status, entry.code)
        assert found.of_code == entry.code, entry.code
        assert found.of_status == entry.status


def test_a_code_that_is_not_known_is_of_its_status() -> None:
    assert class_of(404, "SOMETHING_NEW").__name__ == "NotFoundError"
    assert class_of(418, "TEAPOT") is ApiError
    assert class_of(599, "") is ServerError


def test_a_method_tells_its_parameters_and_what_it_does() -> None:
    with Client(Deployment("http://127.0.0.1:1", "x")) as client:
        assert "agent_id" in inspect.signature(client.start).parameters
        assert "goal" in (client.start.__doc__ or "")


def test_a_program_that_calls_loads_neither_pydantic_nor_the_server() -> None:
    code = (
        "import sys, acta\n"
        "acta.Client(acta.Deployment('http://127.0.0.1:1', 'x'))\n"
        "print([name for name in sys.modules if name.startswith(('pydantic', 'rich', 'acta.engine.api'))])\n"
        "from acta.client.shapes import Session\n"
        "print(Session.__name__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "SessionView"]
