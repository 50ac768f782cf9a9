"""Plays a scenario's script on the deployment: the model says it on the wire, a person decides over HTTP."""

from typing import Any

from llmock.scenarios import Reply, ToolCall

from tests.e2e.support.person import Json, Person, Seen
from tests.e2e.support.script import Say, Scenario


class Stage:
    """`model` is the scripted server's handle for this test, `person` who starts, answers and watches."""

    def __init__(self, person: Person, model: Any) -> None:
        self.person = person
        self.model = model

    def prepare(self, *says: Say) -> None:
        for said in says:
            calls = tuple(ToolCall(call.name, call.input) for call in said.calls)
            self.model.add(Reply(text=said.text or None, tool_calls=calls))

    def play(self, scenario: Scenario, **limits: Any) -> Seen:
        """The whole of it, up to the end it has to come to."""
        for path, text in scenario.files.items():
            self.person.put_file(path, text)
        self.prepare(*scenario.says)
        session_id = self.person.start(scenario.goal, **scenario.limits, **limits)
        for decision in scenario.decisions:
            (asked,) = self.person.asked(session_id).session["interventions"]
            assert asked["type"] == decision.type
            answer = self.person.resolve(
                session_id, asked["intervention_id"], decision.option, input=dict(decision.given)
            )
            assert answer.status_code == 200, answer.text
        seen = self.person.finished(session_id)
        result, error = seen.session["result"], seen.session["error"]
        ended = (seen.session["state"], error["code"] if error else result["goal_met"])
        assert ended == scenario.ends
        assert len(self.requests) == len(scenario.says) == seen.session["usage"]["llm_calls"]
        return seen

    @property
    def requests(self) -> list[Json]:
        """The bodies of what the model was asked, in order."""
        return [record.body for record in self.model.requests]

    @property
    def systems(self) -> list[str]:
        return ["".join(block["text"] for block in body["system"]) for body in self.requests]

    @property
    def suffixes(self) -> list[str]:
        """The last words of each request, where plan status and hints are."""
        return [body["messages"][-1]["content"][-1]["text"] for body in self.requests]

    def told(self, seen: Seen, what: str) -> Any:
        return self.person.data(f"/v1/sessions/{seen.session['session_id']}/{what}")

    def results(self, seen: Seen) -> list[str]:
        """What the calls came back with, refusals included."""
        return [m["content"] for m in self.told(seen, "messages")["items"] if m["role"] == "tool"]


def hints(seen: Seen) -> list[str]:
    return [event["data"]["text"] for event in seen.of("hint.injected")]


def asked_for(seen: Seen) -> list[str]:
    """The kinds of what people were asked, in order."""
    return [event["data"]["type"] for event in seen.of("intervention.opened")]


def versions(stage: Stage, seen: Seen) -> list[int]:
    return [version["version"] for version in stage.told(seen, "plan")["versions"]]


def statuses(seen: Seen) -> list[str]:
    return [step["status"] for step in seen.session["plan"]["steps"]]
