"""A deployment's prompts: stored when CloudFormation asks, answered whatever happens."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from acta.engine.agents.store import DefinitionStore
from acta.engine.errors import AwsDenied, StoreUnavailable
from acta.engine.prompts.prompt import AGENT_PLANNING_SYSTEM, Prompt
from acta.engine.prompts.seeding import ANSWER_SECONDS, PAUSES, is_seeding, seed
from acta.infra.sizing import SIZES
from tests.api.deployment import AdminApi, admin_root

NAME = AGENT_PLANNING_SYSTEM
TENANT = "acme"


class CloudFormation:
    """Where the answers go. S3 refuses one with a content type its address was not signed with."""

    def __init__(self) -> None:
        self.answers: list[dict[str, Any]] = []
        answers = self.answers

        class Receiver(BaseHTTPRequestHandler):
            def do_PUT(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                answers.append({"content_type": self.headers["Content-Type"], **json.loads(body)})
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Receiver)
        self.session = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.session.start()

    def asks(self, content: str, request: str = "Create", name: str = NAME) -> dict[str, Any]:
        return {
            "RequestType": request,
            "ResponseURL": f"http://127.0.0.1:{self.server.server_port}/answer",
            "StackId": "stack",
            "RequestId": "request",
            "LogicalResourceId": "Prompts",
            "ResourceProperties": {"ServiceToken": "arn", "Prompts": {name: content}},
        }

    def close(self) -> None:
        self.server.shutdown()
        self.session.join()
        self.server.server_close()


@pytest.fixture
def cloudformation() -> Iterator[CloudFormation]:
    receiver = CloudFormation()
    yield receiver
    receiver.close()


def test_a_deployment_s_text_is_what_tenants_read_from_then_on(cloudformation: CloudFormation) -> None:
    root = admin_root()
    assert seed(cloudformation.asks("First"), root.definitions, root.clock) is None
    assert root.definitions.prompt(TENANT, NAME).content == "First"
    assert seed(cloudformation.asks("Second", "Update"), root.definitions, root.clock) is None
    assert root.definitions.prompt(TENANT, NAME).content == "Second"
    assert cloudformation.answers[0] == {
        "content_type": "",
        "Status": "SUCCESS",
        "Reason": "",
        "PhysicalResourceId": "acta-prompts",
        "StackId": "stack",
        "RequestId": "request",
        "LogicalResourceId": "Prompts",
    }


def test_the_same_text_again_keeps_the_time_it_came_at(cloudformation: CloudFormation) -> None:
    root = admin_root()
    seed(cloudformation.asks("First"), root.definitions, root.clock)
    before = root.definitions.prompt(TENANT, NAME)
    root.clock.sleep(60)
    seed(cloudformation.asks("First", "Update"), root.definitions, root.clock)
    assert root.definitions.prompt(TENANT, NAME) == before


def test_a_tenant_s_own_version_is_left_alone(cloudformation: CloudFormation) -> None:
    api = AdminApi()
    api.admin.request("PUT", f"/v1/admin/prompts/{NAME}", json_body={"content": "Ours"})
    seed(cloudformation.asks("New release", "Update"), api.root.definitions, api.root.clock)
    own = api.admin.request("GET", f"/v1/admin/prompts/{NAME}").data
    assert (own["content"], own["seed_content"]) == ("Ours", "New release")


def test_removing_the_stack_changes_no_prompt(cloudformation: CloudFormation) -> None:
    root = admin_root()
    seed(cloudformation.asks("First"), root.definitions, root.clock)
    seed(cloudformation.asks("Other", "Delete"), root.definitions, root.clock)
    assert root.definitions.prompt(TENANT, NAME).content == "First"
    assert [answer["Status"] for answer in cloudformation.answers] == ["SUCCESS", "SUCCESS"]


@pytest.mark.parametrize(("content", "name"), [("", NAME), ("x" * 20_001, NAME), ("x", "no such prompt")])
def test_what_cannot_be_stored_fails_the_deployment_without_quoting_it(
    cloudformation: CloudFormation, content: str, name: str
) -> None:
    root = admin_root()
    failure = seed(cloudformation.asks(content, name=name), root.definitions, root.clock)
    assert failure is not None
    (answer,) = cloudformation.answers
    assert (answer["Status"], answer["Reason"]) == ("FAILED", type(failure).__name__)


def test_a_store_that_is_away_is_answered_too(cloudformation: CloudFormation) -> None:
    class Away:
        def seed(self, name: str) -> Prompt:
            raise StoreUnavailable("away")

    store: DefinitionStore = Away()  # type: ignore[assignment]
    assert isinstance(seed(cloudformation.asks("x"), store, admin_root().clock), StoreUnavailable)
    assert cloudformation.answers[0]["Status"] == "FAILED"


class Denying:
    """A store whose reads are denied so many times before they are allowed."""

    def __init__(self, store: DefinitionStore, times: int) -> None:
        self._store, self.left = store, times

    def seed(self, name: str) -> Prompt:
        if self.left:
            self.left -= 1
            raise AwsDenied("GetItem: AccessDeniedException")
        return self._store.seed(name)

    def store_seed(self, seed: Prompt) -> None:
        self._store.store_seed(seed)


def test_a_new_role_whose_permissions_take_effect_a_little_later_fails_no_deployment(
    cloudformation: CloudFormation,
) -> None:
    root = admin_root()
    store: Any = Denying(root.definitions, len(PAUSES))
    assert seed(cloudformation.asks("First"), store, root.clock) is None
    assert root.definitions.prompt(TENANT, NAME).content == "First"
    assert [answer["Status"] for answer in cloudformation.answers] == ["SUCCESS"]


def test_a_permission_that_stays_missing_is_answered_before_the_function_s_time_is_over(
    cloudformation: CloudFormation,
) -> None:
    root = admin_root()
    begun = root.clock.now()
    failure = seed(cloudformation.asks("x"), Denying(root.definitions, 1_000), root.clock)  # type: ignore[arg-type]
    assert isinstance(failure, AwsDenied)
    (answer,) = cloudformation.answers
    assert (answer["Status"], answer["Reason"]) == ("FAILED", "AwsDenied")
    waited = (root.clock.now() - begun).total_seconds()
    assert 10 < waited < SIZES["admin"].timeout - ANSWER_SECONDS


def test_a_gateway_s_event_is_no_seeding() -> None:
    assert not is_seeding(
        {"requestContext": {}, "rawPath": "/v1/agents", "body": '{"RequestType": "Create"}'}
    )
