"""The scenario with a deposit that is charged later: its service answers 202, and the result is sent to the URL."""

from collections.abc import Mapping
from typing import ClassVar
from urllib.parse import urlsplit

from acta.engine.log.head import Head
from tests.faults.person import Json
from tests.faults.scenario import TOOLS, Play
from tests.faults.script import CHARGE


class CalledBack(Play):
    """The service sends its answer when the session is parked to wait for it, or when a person is asked whether the
    charge has happened, which the answer says. It tries again until it is told that the answer was recorded. It does
    not send it before the park, or the calls of a run would depend on who of the two is faster.
    """

    tools: ClassVar[Mapping[str, Json]] = {**TOOLS, CHARGE: {**TOOLS[CHARGE], "later": {"seconds": 3_600}}}

    def see_to(self, session_id: str) -> Head:
        while True:
            head = self.wait(
                session_id, lambda head: head.is_over or self.is_awaited(head) or self.asks(head)
            )
            if head.is_over:
                self.rest(head)
                return head
            if self.is_awaited(head):
                self.deliver(head)
                continue
            for one in self.person.data(f"/v1/sessions/{session_id}")["session"]["interventions"]:
                self.decide(session_id, one)

    def is_awaited(self, head: Head) -> bool:
        is_in_doubt = self.asks(head) and any(
            one.type == "error_recovery" and one.tool_call is not None and one.tool_call.name == CHARGE
            for one in head.interventions
        )
        parked = head.run is not None and head.run.parked
        waits = parked and any(call.name == CHARGE and call.later is not None for call in head.calls)
        return self.tag in self.stand.ledger.answers and (waits or is_in_doubt)

    def deliver(self, head: Head) -> None:
        if head.interventions:
            self.asked.append(CHARGE)
        url, receipt = self.stand.ledger.answers[self.tag]
        path, body = urlsplit(url).path, {"result": receipt}
        if self.left and not self.person.has_answered(path, body, "callback"):
            self.stand.sweep()
            if self.stand.repository.newest(self.tag, head.session_id).head.answered_calls:
                return  # the delivery had been recorded, and its sender never learns it
        answer = self.person.post(path, body, "callback")
        if answer.status_code == 409:  # an earlier try got no answer
            assert answer.json()["error"]["details"]["by"] == ["callback"]
        else:
            assert answer.status_code == 200, answer.text
